// SPDX-License-Identifier: Apache-2.0
#include "hold_times.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "../model/result_waits.hpp"
#include "../model/scope_owner.hpp"
#include "../model/task_slices.hpp"
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
    std::map<std::int64_t, std::uint32_t> seen;  // as the holder: the innermost scope by the time
    std::int64_t free_ns = INT64_MIN;            // its last release
};

// The end of a hold, and the waits that it ended.
struct release {
    thread_work holder;
    std::uint64_t number = 0;
    std::int64_t first_wait_ns = INT64_MAX;
    bool saw_holder = false;
    bool held_before = false;  // it had the resource when these waits began
};

// Returns whether a scope that was open at a moment, or one around it, was still open at `to_ns`.
// If not, the holder may have released the lock in between. Work without scopes does not show that.
bool lasted(const trace& loaded, std::uint32_t scope, std::int64_t to_ns) {
    if (scope >= loaded.events.size()) return true;
    for (; scope < loaded.events.size(); scope = loaded.events[scope].parent)
        if (loaded.events[scope].end_ns >= to_ns) return true;
    return false;
}

// Returns the earliest time after `from_ns` at which the holder is known to have held the lock up
// to its release at `to_ns`. If it released the lock and took it again in one scope, nothing shows
// that.
std::int64_t first_sight(const trace& loaded, const std::map<std::int64_t, std::uint32_t>& seen,
                         std::int64_t from_ns, std::int64_t to_ns) {
    for (auto each = seen.upper_bound(from_ns); each != seen.end() && each->first < to_ns; ++each)
        if (lasted(loaded, each->second, to_ns)) return each->first;
    return to_ns;
}

std::int64_t birth_of(const trace& loaded, const thread_work& of) {
    return of.task < loaded.tasks.size() ? loaded.tasks[of.task].spawn_ns.value_or(INT64_MIN)
                                         : INT64_MIN;
}

// Returns the last time before `to_ns` at which another holder was seen.
std::int64_t last_other(const std::map<std::int64_t, std::uint64_t>& seen, std::uint64_t holder,
                        std::int64_t to_ns) {
    for (auto each = seen.lower_bound(to_ns); each != seen.begin();)
        if ((--each)->second != holder) return each->first;
    return INT64_MIN;
}

// Returns the last of these times after `from_ns` and not after `to_ns`.
optional_ns last_in(const std::set<std::int64_t>& times, std::int64_t from_ns, std::int64_t to_ns) {
    const auto after = times.upper_bound(to_ns);
    if (after == times.begin() || *std::prev(after) <= from_ns) return {};
    return *std::prev(after);
}

// Returns the await in which the suspended task waited for the resource until its wake.
std::optional<await_info> await_of(const trace& loaded, const resource_wait& wait) {
    if (wait.task >= loaded.tasks.size() || is_on_thread(loaded, wait)) return std::nullopt;
    const index_range& own = loaded.tasks[wait.task].awaits;
    if (own.empty()) return std::nullopt;
    const auto begin = loaded.awaits.begin() + own.front();
    const auto after =
        std::ranges::upper_bound(begin, begin + static_cast<std::ptrdiff_t>(own.size()),
                                 wait.end_ns, {}, &await_info::suspend_ns);
    if (after == begin) return std::nullopt;
    const await_info found = *(after - 1);
    if (!found.wake_ns || found.waker >= loaded.tasks.size() || *found.wake_ns <= wait.start_ns ||
        *found.wake_ns > wait.end_ns)
        return std::nullopt;
    return found;
}

}  // namespace

hold_times::use hold_times::use_of(const lock_wait& wait) {
    use made{.start_ns = wait.start_ns,
             .end_ns = wait.end_ns,
             .waiter = scope_owner(wait.waiter.task, wait.waiter.thread),
             .held_by = wait.holder,
             .released_by = wait.releaser,
             .gave_up = wait.gave_up,
             .is_exclusive = !has_readers(wait),
             .has_readers = has_readers(wait)};
    if (is_work_known(wait.holder)) made.holder = scope_owner(wait.holder.task, wait.holder.thread);
    if (wait.released_ns && is_work_known(wait.releaser)) made.released_ns = wait.released_ns;
    made.releaser = scope_owner(wait.releaser.task, wait.releaser.thread);
    return made;
}

hold_times::use hold_times::use_of(const resource_wait& wait) const {
    use made{.start_ns = wait.start_ns,
             .end_ns = wait.end_ns,
             .waiter = scope_owner(wait.task, wait.thread),
             .held_by = {wait.holder_thread, wait.holder_task, wait.holder_scope},
             .released_by = {wait.releaser_thread, wait.releaser_task, none},
             .gave_up = wait.gave_up,
             .is_exclusive = wait.capacity == 1 && !wait.shared,
             .has_readers = wait.shared};
    if (wait.holder_known) made.holder = scope_owner(wait.holder_task, wait.holder_thread);
    if (has_releaser(wait)) made.released_ns = wait.released_ns;
    made.releaser = scope_owner(wait.releaser_task, wait.releaser_thread);
    made.is_one_of_several = wait.holder_known && has_several_holders(loaded_, wait);
    if (made.released_ns || wait.holder_known || wait.gave_up || wait.holders_noted ||
        !has_holders(loaded_, wait))
        return made;
    // A resource whose holders are not noted: the task that woke the waiting one released it.
    if (const auto await = await_of(loaded_, wait)) {
        made.released_ns = await->wake_ns;
        made.releaser = await->waker;
        made.released_by = {none, await->waker, none};
    }
    return made;
}

hold_times::hold_times(const trace& loaded) : loaded_(loaded) {
    std::map<key, std::vector<use>> uses;
    for (const lock_wait& each : loaded.lock_waits)
        if (is_known(each)) uses[key_of(each)].push_back(use_of(each));
    for (const resource_wait& each : loaded.resource_waits)
        if (is_known(each) && !is_for_result(loaded, each))
            uses[key_of(each)].push_back(use_of(each));
    for (const auto& [of, all] : uses)
        holds_[of] = {holds_of(loaded, all), std::ranges::all_of(all, &use::is_exclusive)};
    find_scopes(loaded);
}

// Finds the scope in which each holder was for most of its time.
void hold_times::find_scopes(const trace& loaded) {
    if (holds_.empty()) return;
    scope_timelines scopes(loaded);
    const auto for_each_hold = [&](auto use) {
        for (auto& [of, all] : holds_)
            for (hold_time& each : all.holds)
                if (each.from_ns < each.to_ns &&
                    (each.holder.task < loaded.tasks.size() ||
                     (each.holder.task == none && each.holder.thread < loaded.threads.size())))
                    use(each);
    };
    for_each_hold(
        [&](const hold_time& each) { scopes.watch(each.holder.task, each.holder.thread); });
    scopes.read();
    for_each_hold([&](hold_time& each) {
        std::map<std::uint32_t, std::int64_t> times;
        scopes.for_each_piece(each.holder.task, each.holder.thread, each.from_ns, each.to_ns,
                              [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t scope) {
                                  add_to(times[scope], to_ns - from_ns);
                              });
        std::int64_t longest_ns = -1;
        for (const auto& [scope, time_ns] : times) {
            if (time_ns <= longest_ns) continue;
            longest_ns = time_ns;
            each.holder.scope = scope;
        }
    });
}

// Finds the begin of each hold that a release ended.
std::vector<hold_time> hold_times::holds_of(const trace& loaded, const std::vector<use>& uses) {
    std::map<std::uint64_t, holder_times> holders;
    std::map<std::int64_t, release> releases;
    std::map<std::int64_t, std::uint64_t> seen;  // the holders by the time
    const bool has_readers = std::ranges::any_of(uses, &use::has_readers);
    const bool is_exclusive = std::ranges::all_of(uses, &use::is_exclusive);
    for (const use& each : uses) {
        if (!each.gave_up)
            holders[each.waiter].acquired_ns.insert(each.released_ns.value_or(each.end_ns));
        if (each.holder) {
            holders[*each.holder].seen.emplace(each.start_ns, each.held_by.scope);
            seen[each.start_ns] = *each.holder;
        }
        if (!each.released_ns) continue;
        release& ended = releases[*each.released_ns];
        ended.holder = each.released_by;
        ended.number = each.releaser;
        ended.first_wait_ns = std::min(ended.first_wait_ns, each.start_ns);
        ended.saw_holder = ended.saw_holder || each.holder;
        ended.held_before = ended.held_before || each.is_one_of_several;
    }
    std::vector<hold_time> made;
    std::int64_t free_ns = INT64_MIN;  // the last release
    for (const auto& [to_ns, ended] : releases) {
        holder_times& of = holders[ended.number];
        const std::int64_t earliest_ns = std::max(
            birth_of(loaded, ended.holder),
            is_exclusive ? std::max(free_ns, last_other(seen, ended.number, to_ns)) : of.free_ns);
        std::int64_t from_ns = to_ns;
        if (ended.held_before) {
            made.push_back({ended.holder, ended.first_wait_ns, to_ns});
            of.free_ns = to_ns;
            continue;
        }
        if (const optional_ns acquired_ns = last_in(of.acquired_ns, of.free_ns, to_ns))
            from_ns = *acquired_ns;
        else if (!of.seen.empty())
            from_ns = first_sight(loaded, of.seen, std::max(of.free_ns, earliest_ns), to_ns);
        else if (!has_readers && !ended.saw_holder)
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
    const std::vector<hold_time>& all = found->second.holds;
    if (!of.released_ns) return seen_hold(of, all, at_ns);
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

// Returns the hold of a wait without a release: by the holder that it saw, up to the next release.
std::optional<hold_time> hold_times::seen_hold(const use& of, const std::vector<hold_time>& all,
                                               std::int64_t at_ns) {
    if (!of.holder) return std::nullopt;
    const auto next = std::ranges::upper_bound(all, of.start_ns, {}, &hold_time::to_ns);
    if (next == all.end()) return only_hold(of, at_ns);
    const bool is_same = scope_owner(next->holder.task, next->holder.thread) == *of.holder;
    return is_same ? only_hold(of, std::min(at_ns, next->to_ns)) : std::nullopt;
}

// Returns the hold of a wait of which no other wait is known.
std::optional<hold_time> hold_times::only_hold(const use& of, std::int64_t at_ns) {
    const bool is_other = of.released_ns && of.holder && *of.holder != of.releaser;
    const bool is_unseen = !of.holder && (!of.released_ns || of.has_readers);
    if (is_other || is_unseen) return std::nullopt;
    return hold_time{of.holder ? of.held_by : of.released_by, of.start_ns, at_ns};
}

std::optional<hold_time> hold_times::before(const lock_wait& wait, std::int64_t at_ns) const {
    return find(wait, at_ns);
}

std::optional<hold_time> hold_times::before(const resource_wait& wait, std::int64_t at_ns) const {
    return find(wait, at_ns);
}

}  // namespace coroscope::analysis::inline paths
