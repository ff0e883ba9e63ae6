// SPDX-License-Identifier: Apache-2.0
#include "hold_times.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "../model/result_waits.hpp"
#include "../model/scope_owner.hpp"
#include "scope_timelines.hpp"

namespace coroscope::analysis::inline paths {
namespace {

bool is_work_known(const thread_work& of) { return of.task != none || of.thread != none; }

bool has_readers(const lock_wait& wait) {
    using coroscope::trace::lock_kind;
    return wait.kind == lock_kind::read || wait.kind == lock_kind::write;
}

// The begins and ends of one holder's uses.
struct holder_times {
    std::set<std::int64_t> acquired_ns;
    std::set<std::int64_t> seen_ns;    // as the holder
    std::int64_t free_ns = INT64_MIN;  // its last release
};

// The end of a hold, and the waits that it ended.
struct release {
    thread_work holder;
    std::uint64_t number = 0;
    std::int64_t first_wait_ns = INT64_MAX;
    bool saw_holder = false;
};

// Returns the first of these times after `from_ns` and before `to_ns`.
optional_ns first_in(const std::set<std::int64_t>& times, std::int64_t from_ns,
                     std::int64_t to_ns) {
    const auto found = times.upper_bound(from_ns);
    return found == times.end() || *found >= to_ns ? optional_ns() : optional_ns(*found);
}

// Returns the last of these times after `from_ns` and not after `to_ns`.
optional_ns last_in(const std::set<std::int64_t>& times, std::int64_t from_ns, std::int64_t to_ns) {
    const auto after = times.upper_bound(to_ns);
    if (after == times.begin() || *std::prev(after) <= from_ns) return {};
    return *std::prev(after);
}

}  // namespace

hold_times::use hold_times::use_of(const lock_wait& wait) {
    use made{.start_ns = wait.start_ns,
             .end_ns = wait.end_ns,
             .waiter = scope_owner(none, wait.waiter.thread),
             .held_by = wait.holder,
             .released_by = wait.releaser,
             .gave_up = wait.gave_up,
             .is_exclusive = !has_readers(wait)};
    if (is_work_known(wait.holder)) made.holder = scope_owner(none, wait.holder.thread);
    if (wait.released_ns && is_work_known(wait.releaser)) made.released_ns = wait.released_ns;
    made.releaser = scope_owner(none, wait.releaser.thread);
    return made;
}

hold_times::use hold_times::use_of(const resource_wait& wait) {
    use made{.start_ns = wait.start_ns,
             .end_ns = wait.end_ns,
             .waiter = scope_owner(wait.task, wait.thread),
             .held_by = {wait.holder_thread, wait.holder_task, wait.holder_scope},
             .released_by = {wait.releaser_thread, wait.releaser_task, none},
             .gave_up = wait.gave_up,
             .is_exclusive = wait.capacity == 1 && !wait.shared};
    if (wait.holder_known) made.holder = scope_owner(wait.holder_task, wait.holder_thread);
    if (has_releaser(wait)) made.released_ns = wait.released_ns;
    made.releaser = scope_owner(wait.releaser_task, wait.releaser_thread);
    return made;
}

hold_times::hold_times(const trace& loaded) {
    std::map<key, std::vector<use>> uses;
    for (const lock_wait& each : loaded.lock_waits)
        if (is_known(each)) uses[key_of(each)].push_back(use_of(each));
    for (const resource_wait& each : loaded.resource_waits)
        if (is_known(each) && !is_for_result(loaded, each))
            uses[key_of(each)].push_back(use_of(each));
    for (const auto& [of, all] : uses)
        holds_[of] = {holds_of(all), std::ranges::all_of(all, &use::is_exclusive)};
    find_scopes(loaded);
}

// Finds the holders' scopes at the release, else in the middle of the hold, if no wait saw them.
void hold_times::find_scopes(const trace& loaded) {
    std::vector<hold_time*> unknown;
    for (auto& [of, all] : holds_)
        for (hold_time& each : all.holds)
            if (each.holder.scope == none &&
                (each.holder.task < loaded.tasks.size() ||
                 (each.holder.task == none && each.holder.thread < loaded.threads.size())))
                unknown.push_back(&each);
    if (unknown.empty()) return;
    scope_timelines scopes(loaded);
    for (const hold_time* each : unknown) scopes.watch(each->holder.task, each->holder.thread);
    scopes.read();
    for (hold_time* each : unknown) {
        const auto scope_at = [&](std::int64_t time_ns) {
            return scopes.innermost_at(each->holder.task, each->holder.thread, time_ns);
        };
        each->holder.scope = scope_at(each->to_ns - 1);
        if (each->holder.scope == none)
            each->holder.scope = scope_at(each->from_ns + (each->to_ns - each->from_ns) / 2);
    }
}

// Finds the begin of each hold that a release ended.
std::vector<hold_time> hold_times::holds_of(const std::vector<use>& uses) {
    std::map<std::uint64_t, holder_times> holders;
    std::map<std::int64_t, release> releases;
    const bool is_exclusive = std::ranges::all_of(uses, &use::is_exclusive);
    for (const use& each : uses) {
        if (!each.gave_up) holders[each.waiter].acquired_ns.insert(each.end_ns);
        if (each.holder) holders[*each.holder].seen_ns.insert(each.start_ns);
        if (!each.released_ns) continue;
        release& ended = releases[*each.released_ns];
        ended.holder = each.released_by;
        ended.number = each.releaser;
        ended.first_wait_ns = std::min(ended.first_wait_ns, each.start_ns);
        if (each.holder == each.releaser && each.held_by.scope != none) ended.holder = each.held_by;
        ended.saw_holder = ended.saw_holder || each.holder;
    }
    std::vector<hold_time> made;
    std::int64_t free_ns = INT64_MIN;  // the last release
    for (const auto& [to_ns, ended] : releases) {
        holder_times& of = holders[ended.number];
        const std::int64_t earliest_ns = is_exclusive ? free_ns : of.free_ns;
        std::int64_t from_ns = to_ns;
        if (const optional_ns acquired_ns = last_in(of.acquired_ns, of.free_ns, to_ns))
            from_ns = *acquired_ns;
        else if (const optional_ns seen_ns = first_in(of.seen_ns, of.free_ns, to_ns))
            from_ns = *seen_ns;
        else if (is_exclusive && !ended.saw_holder)
            from_ns = ended.first_wait_ns;
        made.push_back({ended.holder, std::max(from_ns, earliest_ns), to_ns});
        free_ns = of.free_ns = to_ns;
    }
    return made;
}

template <class Wait>
std::optional<hold_time> hold_times::find(const Wait& wait, std::int64_t at_ns) const {
    const use of = use_of(wait);
    at_ns = std::min(at_ns, of.released_ns.value_or(of.end_ns));
    if (at_ns <= of.start_ns) return std::nullopt;
    const auto found = holds_.find(key_of(wait));
    if (found == holds_.end()) return only_hold(of, at_ns);
    if (!of.released_ns) return of.holder ? only_hold(of, at_ns) : std::nullopt;
    const std::vector<hold_time>& all = found->second.holds;
    const auto ending_at = [&](std::int64_t time_ns) {
        return std::ranges::lower_bound(all, time_ns, {}, &hold_time::to_ns);
    };
    const auto cut = [&](const hold_time& hold) {
        return hold_time{hold.holder, std::max(hold.from_ns, of.start_ns),
                         std::min(hold.to_ns, at_ns)};
    };
    if (const auto own = ending_at(*of.released_ns); own != all.end() && own->from_ns < at_ns)
        return cut(*own);
    auto next = ending_at(at_ns);
    if (found->second.is_exclusive && next != all.end() && next->from_ns < at_ns) return cut(*next);
    if (next != all.end() && next->to_ns == at_ns) ++next;
    while (next != all.begin() && std::prev(next)->to_ns > of.start_ns) {
        --next;
        if (next->from_ns < std::min(next->to_ns, at_ns)) return cut(*next);
    }
    return std::nullopt;
}

// Returns the hold of a wait of which no other wait is known.
std::optional<hold_time> hold_times::only_hold(const use& of, std::int64_t at_ns) {
    const bool is_other = of.released_ns && of.holder && *of.holder != of.releaser;
    if (is_other || (!of.released_ns && !of.holder)) return std::nullopt;
    return hold_time{of.holder ? of.held_by : of.released_by, of.start_ns, at_ns};
}

std::optional<hold_time> hold_times::before(const lock_wait& wait, std::int64_t at_ns) const {
    return find(wait, at_ns);
}

std::optional<hold_time> hold_times::before(const resource_wait& wait, std::int64_t at_ns) const {
    return find(wait, at_ns);
}

}  // namespace coroscope::analysis::inline paths
