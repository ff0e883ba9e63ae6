// SPDX-License-Identifier: Apache-2.0
#include "matching_work.hpp"

#include <algorithm>
#include <string_view>

#include "../text/glob.hpp"
#include "../words/await_names.hpp"

namespace coroscope::analysis::inline part {
namespace {

/// The value of an unknown attribute.
constexpr std::string_view unknown_attribute_text = "(unknown)";

}  // namespace

work_conditions::work_conditions(const trace& loaded, const std::vector<work_condition>& where)
    : loaded_(loaded), where_(where), names_(loaded.strings.size()), sites_(loaded.sites.size()) {
    for (const work_condition& each : where) values_.emplace_back(loaded, each.attribute);
}

bool work_conditions::hold(std::uint32_t name, std::uint32_t attribute) {
    return hold_of_name(name) && hold_of_attribute(attribute);
}

bool work_conditions::hold(const task_info& task) {
    return hold_of_site(task.spawn_site) && hold_of_attribute(task.attribute);
}

bool work_conditions::hold(const request_info& request) {
    const bool is_task = request.event >= loaded_.events.size();
    const std::uint32_t attribute = !is_task ? loaded_.events[request.event].attribute
                                    : request.task < loaded_.tasks.size()
                                        ? loaded_.tasks[request.task].attribute
                                        : none;
    return hold(request.name, attribute);
}

bool work_conditions::hold_of_name(std::uint32_t name) {
    const auto holds = [&] {
        return std::ranges::all_of(where_, [&](const work_condition& each) {
            return !each.attribute.empty() ||
                   (name < names_.size() && matches_glob(each.pattern, loaded_.strings[name]));
        });
    };
    if (name >= names_.size()) return holds();
    if (names_[name] == answer::unknown) names_[name] = holds() ? answer::yes : answer::no;
    return names_[name] == answer::yes;
}

bool work_conditions::hold_of_site(std::uint32_t site) {
    const auto holds = [&] {
        return std::ranges::all_of(where_, [&](const work_condition& each) {
            return !each.attribute.empty() ||
                   (site < sites_.size() && matches_glob(each.pattern, site_name(loaded_, site)));
        });
    };
    if (site >= sites_.size()) return holds();
    if (sites_[site] == answer::unknown) sites_[site] = holds() ? answer::yes : answer::no;
    return sites_[site] == answer::yes;
}

// The value of an unknown attribute matches nothing, not even "*".
bool work_conditions::hold_of_attribute(std::uint32_t attribute) {
    for (std::size_t at = 0; at < where_.size(); ++at) {
        if (where_[at].attribute.empty()) continue;
        const std::uint32_t value = values_[at].of(attribute);
        if (value >= loaded_.strings.size() || loaded_.strings[value] == unknown_attribute_text ||
            !matches_glob(where_[at].pattern, loaded_.strings[value]))
            return false;
    }
    return true;
}

selected_work::selected_work(const trace& loaded, const std::vector<work_condition>& where)
    : loaded_(loaded),
      events_(loaded.events.size()),
      tasks_(loaded.tasks.size()),
      of_tasks_(loaded.tasks.size()),
      of_threads_(loaded.threads.size()) {
    work_conditions conditions(loaded, where);
    select_events(conditions);
    note_times();
    select_tasks(conditions);
    for (std::uint32_t at = 0; at < events_.size(); ++at)
        if (has_task(loaded.events[at].task)) events_[at] = true;
}

bool selected_work::has(std::uint32_t task, std::uint32_t thread, std::int64_t time_ns) const {
    if (has_task(task)) return true;
    const std::vector<times>& all = task < of_tasks_.size() ? of_tasks_ : of_threads_;
    const std::uint32_t owner = task < of_tasks_.size() ? task : thread;
    if (owner >= all.size()) return false;
    const auto after = std::ranges::upper_bound(all[owner], time_ns, {},
                                                [](const auto& each) { return each.first; });
    return after != all[owner].begin() && time_ns <= std::prev(after)->second;
}

// An event comes after its parent.
void selected_work::select_events(work_conditions& conditions) {
    for (std::uint32_t at = 0; at < events_.size(); ++at) {
        const event& each = loaded_.events[at];
        events_[at] = (each.parent < at && events_[each.parent]) ||
                      conditions.hold(each.name, each.attribute);
    }
}

// The events come by their starts, so only the last time of an owner may overlap the next one.
void selected_work::note_times() {
    for (std::uint32_t at = 0; at < events_.size(); ++at) {
        const event& each = loaded_.events[at];
        if (!events_[at]) continue;
        times& to = each.task < of_tasks_.size() ? of_tasks_[each.task] : of_threads_[each.thread];
        if (!to.empty() && each.start_ns <= to.back().second)
            to.back().second = std::max(to.back().second, each.end_ns);
        else
            to.emplace_back(each.start_ns, each.end_ns);
    }
}

// Returns whether a selected scope spawned the task.
bool selected_work::is_below_work(const task_info& task) const {
    if (!task.spawn_ns) return false;
    return task.parent < tasks_.size() ? has(task.parent, none, *task.spawn_ns)
                                       : has(none, task.spawn_thread, *task.spawn_ns);
}

void selected_work::select_tasks(work_conditions& conditions) {
    std::vector<std::uint32_t> found;
    const auto select = [&](std::uint32_t task) {
        if (task >= tasks_.size() || tasks_[task]) return;
        tasks_[task] = true;
        found.push_back(task);
    };
    std::vector<std::vector<std::uint32_t>> below(tasks_.size());
    for (std::uint32_t at = 0; at < tasks_.size(); ++at) {
        const task_info task = loaded_.tasks[at];
        for (const std::uint32_t above : {task.parent, task.awaiter})
            if (above < tasks_.size() && above != at) below[above].push_back(at);
        if (conditions.hold(task) || is_below_work(task)) select(at);
    }
    for (const await_info& each : loaded_.awaits)
        if (each.awaited < tasks_.size() && each.task < tasks_.size() &&
            has(each.task, none, each.suspend_ns))
            select(each.awaited);
    while (!found.empty()) {
        const std::uint32_t above = found.back();
        found.pop_back();
        for (const std::uint32_t each : below[above]) select(each);
    }
}

}  // namespace coroscope::analysis::inline part
