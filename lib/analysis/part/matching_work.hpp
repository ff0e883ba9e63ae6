// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the scopes and tasks of a trace that meet conditions, and the work below them.

#include <cstdint>
#include <utility>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/select_part.hpp>

#include "../model/attribute_values.hpp"

namespace coroscope::analysis::inline part {

/// The conditions on one trace.
class work_conditions {
public:
    /// Both arguments must outlive the object.
    work_conditions(const trace& loaded, const std::vector<work_condition>& where);

    /// Of a scope or a request: `name` is an index into trace::strings.
    [[nodiscard]] bool hold(std::uint32_t name, std::uint32_t attribute);
    [[nodiscard]] bool hold(const task_info& task);
    [[nodiscard]] bool hold(const request_info& request);

private:
    [[nodiscard]] bool hold_of_name(std::uint32_t name);
    [[nodiscard]] bool hold_of_site(std::uint32_t site);
    [[nodiscard]] bool hold_of_attribute(std::uint32_t attribute);

    enum class answer : std::uint8_t { unknown, no, yes };

    const trace& loaded_;
    const std::vector<work_condition>& where_;
    std::vector<attribute_values> values_;  // by condition; those of names are unused
    std::vector<answer> names_;             // by string
    std::vector<answer> sites_;             // by site
};

/// The selected work: times of tasks and of threads outside tasks, and whole tasks.
class selected_work {
public:
    selected_work(const trace& loaded, const std::vector<work_condition>& where);

    [[nodiscard]] bool has_event(std::uint32_t event) const { return events_[event]; }
    [[nodiscard]] bool has_task(std::uint32_t task) const {
        return task < tasks_.size() && tasks_[task];
    }
    /// Whether the work of a task at a moment is selected; outside tasks, that of the thread.
    [[nodiscard]] bool has(std::uint32_t task, std::uint32_t thread, std::int64_t time_ns) const;

private:
    void select_events(work_conditions& conditions);
    void select_tasks(work_conditions& conditions);
    void note_times();
    [[nodiscard]] bool is_below_work(const task_info& task) const;

    using times = std::vector<std::pair<std::int64_t, std::int64_t>>;  // in order, disjoint

    const trace& loaded_;
    std::vector<bool> events_;
    std::vector<bool> tasks_;
    std::vector<times> of_tasks_;
    std::vector<times> of_threads_;
};

}  // namespace coroscope::analysis::inline part
