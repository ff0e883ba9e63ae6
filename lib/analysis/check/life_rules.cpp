// SPDX-License-Identifier: Apache-2.0
#include "life_rules.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../words/places.hpp"
#include "request_flow.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

using coroscope::trace::object_kind;

// A wait is lost if it lasts so many times longer than the longest one that ended at its place.
constexpr std::int64_t lost_times = 5;
// And at least this part of the session.
constexpr std::int64_t lost_part = 5;
constexpr std::uint64_t fewest_siblings = 3;
constexpr std::uint64_t fewest_destroyed = 3;
// Live tasks grow if they do so in each of these parts of the session.
constexpr std::size_t growth_parts = 8;
constexpr std::uint64_t fewest_live = 16;

// Whether something outside the program ends such a wait: it may never come.
bool waits_for_outside(const trace& loaded, const await_info& await) {
    if (await.object >= loaded.objects.size()) return false;
    switch (loaded.objects[await.object].kind) {
        case object_kind::socket:
        case object_kind::resolver:
        case object_kind::signals:
        case object_kind::file:
        case object_kind::serial: return true;
        default: return false;
    }
}

/// The awaits at one place that ended.
struct ended_awaits {
    std::uint64_t count = 0;
    std::uint64_t by_work = 0;  // woken by work of the program, not by a timer
    std::int64_t longest_ns = 0;
};

/// The tasks of one spawn site that ended by themselves.
struct ended_tasks {
    std::uint64_t count = 0;
    std::int64_t last_spawn_ns = INT64_MIN;
};

std::int64_t end_of(const trace& loaded, const task_info& task) {
    return task.end_ns.value_or(loaded.duration_ns);
}

bool is_left(const task_info& task) {
    return task.state == task_state::suspended || task.state == task_state::abandoned ||
           task.state == task_state::ended_with_service;
}

class lost_wake_finder {
public:
    explicit lost_wake_finder(check_input& input) : loaded_(input.loaded()) {
        for (const await_info& each : loaded_.awaits) add(each);
        for (const task_info& each : loaded_.tasks) {
            if (each.state != task_state::finished || !each.spawn_ns) continue;
            ended_tasks& of = tasks_[each.spawn_site];
            ++of.count;
            of.last_spawn_ns = std::max(of.last_spawn_ns, *each.spawn_ns);
        }
        if (input.basis() != finding_basis::marked_requests) return;
        for (const request_info& each : input.list().requests)
            if (each.end == request_end::unfinished || each.end == request_end::abandoned)
                open_requests_.emplace(each.task, each.id);
    }

    // Returns the last wait of a task if its wake was lost: an index into trace::awaits, or none.
    [[nodiscard]] std::uint32_t lost(std::uint32_t number) const {
        const task_info& task = loaded_.tasks[number];
        if (!is_left(task) || task.awaits.empty() || task.losses) return none;
        const std::uint32_t last = task.awaits.back();
        const await_info& await = loaded_.awaits[last];
        if (await.resume_ns || await.wake_ns || await.handed_over ||
            await.awaited < loaded_.tasks.size() || waits_for_outside(loaded_, await))
            return none;
        const std::int64_t waited_ns = end_of(loaded_, task) - await.suspend_ns;
        return is_long(await, waited_ns) && (open_requests_.contains(number) || is_overtaken(task))
                   ? last
                   : none;
    }

    // The id of the open request of a task; 0: none.
    [[nodiscard]] std::uint64_t request_of(std::uint32_t task) const {
        const auto found = open_requests_.find(task);
        return found == open_requests_.end() ? 0 : found->second;
    }

private:
    void add(const await_info& await) {
        if (!await.resume_ns) return;
        ended_awaits& of = awaits_[await.site];
        ++of.count;
        of.by_work += await.reason != wake_reason::timer &&
                              (await.waker != none || await.waker_thread != none)
                          ? 1
                          : 0;
        of.longest_ns = std::max(of.longest_ns, *await.resume_ns - await.suspend_ns);
    }

    // Without other waits at its place, a long wait may be meant, such as that of a long poll.
    [[nodiscard]] bool is_long(const await_info& await, std::int64_t waited_ns) const {
        const auto found = awaits_.find(await.site);
        if (waited_ns < loaded_.duration_ns / lost_part || found == awaits_.end() ||
            found->second.count < fewest_siblings)
            return false;
        const ended_awaits& of = found->second;
        return of.by_work * 2 >= of.count && waited_ns >= lost_times * of.longest_ns;
    }

    // Whether tasks of the same place that were spawned later have ended.
    [[nodiscard]] bool is_overtaken(const task_info& task) const {
        const auto found = tasks_.find(task.spawn_site);
        return found != tasks_.end() && task.spawn_ns && found->second.count >= fewest_siblings &&
               found->second.last_spawn_ns > *task.spawn_ns;
    }

    const trace& loaded_;
    std::map<std::uint32_t, ended_awaits> awaits_;          // by site
    std::map<std::uint32_t, ended_tasks> tasks_;            // by spawn site
    std::map<std::uint32_t, std::uint64_t> open_requests_;  // by task
};

/// Tasks of one place with the same fate.
struct left_tasks {
    finding_place place{};
    std::uint64_t count = 0;
    std::uint64_t requests = 0;
    std::int64_t time_ns = 0;
    std::int64_t request_ns = 0;
    evidence_list evidence{};
};

finding left_finding(left_tasks& of, const std::string& title) {
    finding made;
    made.cause = of.place;
    made.count = of.count;
    made.cost_ns = of.request_ns;
    made.title = title;
    made.victims = {{of.place, of.count, of.time_ns}};
    made.evidence = of.evidence.take();
    return made;
}

// Generators are resumed in place again and again; to destroy one is its usual end.
std::set<std::uint32_t> generators(const trace& loaded) {
    std::map<std::uint32_t, std::uint32_t> times;
    for (const await_info& each : loaded.awaits)
        if (each.handed_over && each.awaited < loaded.tasks.size()) ++times[each.awaited];
    std::set<std::uint32_t> found;
    for (const auto& [task, count] : times)
        if (count > 1) found.insert(task);
    return found;
}

/// The tasks of one spawn site that never ended.
struct growth {
    std::array<std::uint64_t, growth_parts> left_in{};  // by the part of the session of the spawn
    std::uint64_t left = 0;
    std::uint64_t for_outside = 0;
    std::uint64_t spawned_early = 0;  // in the first half
    std::uint64_t left_early = 0;
    std::int64_t time_ns = 0;
    std::uint32_t example = none;
    evidence_list evidence;
};

bool only_grows(const growth& of) {
    const auto parts = std::ranges::count_if(of.left_in, [](std::uint64_t n) { return n != 0; });
    return of.left >= fewest_live && parts + 2 >= static_cast<std::ptrdiff_t>(growth_parts) &&
           of.left_early * 2 >= of.spawned_early && of.for_outside * 2 < of.left;
}

}  // namespace

std::string lacks_threads(const check_input& input) {
    return input.loaded().all_threads ? std::string() : "a session of all threads";
}

void find_lost_wakes(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    const trace& loaded = context.loaded();
    const lost_wake_finder finder(input);
    std::map<std::uint32_t, left_tasks> groups;  // by the site of the await
    for (std::uint32_t task = 0; task < loaded.tasks.size(); ++task) {
        const std::uint32_t at = finder.lost(task);
        if (at == none) continue;
        const await_info& await = loaded.awaits[at];
        left_tasks& of = groups[await.site];
        of.place = input.wait_at(await);
        const std::int64_t time_ns = end_of(loaded, loaded.tasks[task]) - await.suspend_ns;
        ++of.count;
        add_to(of.time_ns, time_ns);
        add_to(of.request_ns, time_ns);
        of.evidence.add({.text = "was never woken",
                         .place = input.await_at(await),
                         .task = task,
                         .await = at,
                         .request = finder.request_of(task),
                         .start_ns = await.suspend_ns,
                         .length_ns = time_ns});
    }
    for (auto& [site, of] : groups) {
        finding made = left_finding(of, fmt::format("{} tasks that wait in `{}` were never woken",
                                                    of.count, label_text(of.place)));
        made.explanation = {
            fmt::format("they waited for {} in all, until they were destroyed or the session ended",
                        format_span(of.time_ns)),
            "the other waits at this place were short, and work of the program ended them"};
        to.push_back(std::move(made));
    }
}

void find_destroyed_tasks(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    const trace& loaded = context.loaded();
    std::int64_t last_spawn_ns = INT64_MIN;
    std::map<std::uint32_t, std::uint64_t> spawned;
    for (const task_info& each : loaded.tasks) {
        last_spawn_ns = std::max(last_spawn_ns, each.spawn_ns.value_or(INT64_MIN));
        ++spawned[each.spawn_site];
    }
    const std::set<std::uint32_t> resumed_in_place = generators(loaded);
    std::map<std::uint32_t, left_tasks> groups;  // by spawn site
    for (std::uint32_t task = 0; task < loaded.tasks.size(); ++task) {
        const task_info& each = loaded.tasks[task];
        // Tasks that are destroyed after the last spawn may end with the service.
        if (each.state != task_state::abandoned || each.losses || !each.end_ns ||
            *each.end_ns >= last_spawn_ns || resumed_in_place.contains(task))
            continue;
        left_tasks& of = groups[each.spawn_site];
        const numbered_place& place = input.places()[place_of_child(input, task)];
        of.place = {place.label, place.site};
        ++of.count;
        const std::int64_t time_ns =
            *each.end_ns - each.first_wake_ns.value_or(each.spawn_ns.value_or(*each.end_ns));
        add_to(of.time_ns, time_ns);
        of.evidence.add({.text = "was destroyed while it was suspended",
                         .place = of.place,
                         .task = task,
                         .await = each.awaits.empty() ? none : each.awaits.back(),
                         .start_ns = *each.end_ns - time_ns,
                         .length_ns = time_ns});
    }
    for (auto& [site, of] : groups) {
        if (of.count < fewest_destroyed) continue;
        finding made = left_finding(
            of, fmt::format("{} of {} tasks `{}` were destroyed while they were suspended",
                            of.count, spawned[site], label_text(of.place)));
        made.explanation = {
            "the program went on afterwards and spawned other tasks: it was not the end of the "
            "service",
            fmt::format("they had taken {} in all, and their work was lost",
                        format_span(of.time_ns))};
        to.push_back(std::move(made));
    }
}

void find_growing_tasks(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    const trace& loaded = context.loaded();
    const std::int64_t length_ns = std::max<std::int64_t>(loaded.duration_ns, 1);
    std::map<std::uint32_t, growth> groups;  // by spawn site
    for (std::uint32_t task = 0; task < loaded.tasks.size(); ++task) {
        const task_info& each = loaded.tasks[task];
        if (!each.spawn_ns || *each.spawn_ns < 0) continue;
        growth& of = groups[each.spawn_site];
        const bool is_early = *each.spawn_ns < length_ns / 2;
        of.spawned_early += is_early ? 1 : 0;
        if (!is_left(each) || each.losses) continue;
        const auto part = static_cast<std::size_t>(
            *each.spawn_ns / (length_ns / static_cast<std::int64_t>(growth_parts) + 1));
        ++of.left_in[std::min(part, growth_parts - 1)];
        ++of.left;
        of.left_early += is_early ? 1 : 0;
        of.example = task;
        const bool is_outside =
            !each.awaits.empty() && waits_for_outside(loaded, loaded.awaits[each.awaits.back()]);
        of.for_outside += is_outside ? 1 : 0;
        const std::int64_t time_ns = end_of(loaded, each) - *each.spawn_ns;
        add_to(of.time_ns, time_ns);
        of.evidence.add({.text = "never ended",
                         .task = task,
                         .await = each.awaits.empty() ? none : each.awaits.back(),
                         .start_ns = *each.spawn_ns,
                         .length_ns = time_ns});
    }
    for (auto& [site, of] : groups) {
        if (!only_grows(of)) continue;
        const numbered_place& place = input.places()[place_of_child(input, of.example)];
        left_tasks left{
            .place = {place.label, place.site}, .count = of.left, .time_ns = of.time_ns};
        finding made =
            left_finding(left, fmt::format("live tasks `{}` only grow: {} of them never ended",
                                           label_text(left.place), of.left));
        made.evidence = of.evidence.take();
        for (finding_evidence& each : made.evidence) each.place = left.place;
        made.explanation = {
            fmt::format("{} of the {} that were spawned in the first half of the session never "
                        "ended",
                        of.left_early, of.spawned_early),
            "they were spawned all the time, and wait for other work of the program"};
        to.push_back(std::move(made));
    }
}

}  // namespace coroscope::analysis::inline checks
