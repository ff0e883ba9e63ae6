// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work that belongs to requests: their scopes, and all work of the tasks that they created.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>

namespace coroscope::analysis::inline compare {

class work_of_requests {
public:
    work_of_requests(const trace& loaded, const request_list& list);

    [[nodiscard]] bool has_event(std::uint32_t event) const {
        return event < events_.size() && events_[event] != 0;
    }
    [[nodiscard]] bool has_task(std::uint32_t task) const {
        return task < tasks_.size() && tasks_[task] == membership::inside;
    }
    [[nodiscard]] bool has_await(const await_info& await) const {
        return has_event(await.scope) || has_task(await.task);
    }

private:
    enum class membership : std::uint8_t { unknown, inside, outside };

    void find_tasks(const trace& loaded, const request_list& list);
    void find_events(const trace& loaded, const request_list& list);
    /// Returns whether a request was open in its creator (a task, or a thread outside tasks) when
    /// the task was created.
    [[nodiscard]] bool is_created_in_request(const request_list& list, const task_info& task) const;

    std::vector<std::uint8_t> events_;
    std::vector<membership> tasks_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_owner_;  // places in the list
};

}  // namespace coroscope::analysis::inline compare
