// SPDX-License-Identifier: Apache-2.0

// The requests of a trace, and the search for one of them.

#include <coroscope/analysis/request_statistics.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "../model/requests.hpp"
#include "../text/number_text.hpp"
#include "../words/places.hpp"
#include "guessed_requests.hpp"

namespace coroscope::analysis {
namespace {

std::vector<request_info> calls_at(const trace& loaded, std::uint32_t site) {
    std::vector<request_info> found;
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at)
        if (loaded.events[at].site == site) found.push_back(request_of_scope(loaded, at));
    return found;
}

/// The tasks with the spawn site of the slowest one. They are named after the site, so
/// request_info::name is none.
std::vector<request_info> slowest_tasks(const trace& loaded) {
    std::uint32_t slowest = none;
    for (std::uint32_t at = 0; at < loaded.tasks.size(); ++at)
        if (ended_well(loaded.tasks[at]) &&
            (slowest == none ||
             loaded.tasks[at].time.wall_ns() > loaded.tasks[slowest].time.wall_ns()))
            slowest = at;
    std::vector<request_info> found;
    if (slowest == none) return found;
    const std::uint32_t site = loaded.tasks[slowest].spawn_site;
    for (std::uint32_t at = 0; at < loaded.tasks.size(); ++at) {
        if (loaded.tasks[at].spawn_site != site || is_named_only(loaded.tasks[at])) continue;
        found.push_back(request_of_task(loaded, at));
        found.back().site = site;
    }
    return found;
}

/// Finds the innermost request of a task, or of a thread outside tasks, at a moment.
class open_requests {
public:
    explicit open_requests(const request_list& list) : list_(list) {
        for (std::size_t at = 0; at < list.requests.size(); ++at) {
            const request_info& each = list.requests[at];
            auto& lists = each.task != none ? of_tasks_ : of_threads_;
            lists[each.task != none ? each.task : each.thread].push_back(at);
        }
    }

    [[nodiscard]] std::optional<std::size_t> in_task(std::uint32_t task,
                                                     std::int64_t time_ns) const {
        return in(of_tasks_, task, time_ns);
    }
    [[nodiscard]] std::optional<std::size_t> on_thread(std::uint32_t thread,
                                                       std::int64_t time_ns) const {
        return in(of_threads_, thread, time_ns);
    }

private:
    using places = std::unordered_map<std::uint32_t, std::vector<std::size_t>>;

    [[nodiscard]] std::optional<std::size_t> in(const places& lists, std::uint32_t key,
                                                std::int64_t time_ns) const {
        const auto found = lists.find(key);
        if (found == lists.end()) return std::nullopt;
        for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
            const request_info& each = list_.requests[*at];
            if (each.start_ns <= time_ns && time_ns <= each.end_ns) return *at;
        }
        return std::nullopt;
    }

    const request_list& list_;
    places of_tasks_;
    places of_threads_;
};

std::uint32_t task_with_id(const trace& loaded, std::uint64_t id) {
    if (id == 0) return none;
    const auto found = std::ranges::find(loaded.tasks, id, &task_info::id);
    return found == loaded.tasks.end() ? none
                                       : static_cast<std::uint32_t>(found - loaded.tasks.begin());
}

std::uint32_t thread_with_id(const trace& loaded, std::uint32_t id) {
    const auto found = std::ranges::find(loaded.threads, id, &thread_info::id);
    return found == loaded.threads.end()
               ? none
               : static_cast<std::uint32_t>(found - loaded.threads.begin());
}

}  // namespace

request_list requests_of(const trace& loaded) {
    if (!loaded.requests.empty()) return {loaded.requests, false, true};
    const std::uint32_t site = guess_request_site(loaded);
    request_list list{site != none ? calls_at(loaded, site) : slowest_tasks(loaded), true,
                      site == none};
    number_requests(list.requests);
    return list;
}

std::optional<request_moment> read_request_moment(std::string_view text) {
    const std::size_t mark = text.find('@');
    if (mark == text.npos) return std::nullopt;
    const bool is_thread = text.starts_with('t');
    const auto who =
        integer<std::uint64_t>(text.substr(is_thread ? 1 : 0, mark - (is_thread ? 1 : 0)));
    const auto when = integer<std::int64_t>(text.substr(mark + 1));
    if (!who || !when || *who == 0 || (is_thread && *who > 0xffff'ffffU)) return std::nullopt;
    request_moment at;
    if (is_thread)
        at.thread_id = static_cast<std::uint32_t>(*who);
    else
        at.task_id = *who;
    at.monotonic_ns = *when;
    return at;
}

std::optional<std::size_t> find_slowest(const request_list& list) {
    const auto rank = [&list](std::size_t at) {
        const request_info& each = list.requests[at];
        return std::pair(!each.left_out, each.wall_ns());
    };
    std::optional<std::size_t> slowest;
    for (std::size_t at = 0; at < list.requests.size(); ++at)
        if (list.requests[at].is_whole() && (!slowest || rank(at) > rank(*slowest))) slowest = at;
    return slowest;
}

std::optional<std::size_t> find_request(const request_list& list, std::uint64_t id) {
    const auto found = std::ranges::lower_bound(list.requests, id, {}, &request_info::id);
    if (found == list.requests.end() || found->id != id) return std::nullopt;
    return static_cast<std::size_t>(found - list.requests.begin());
}

std::optional<std::size_t> find_request(const trace& loaded, const request_list& list,
                                        const request_moment& at) {
    const open_requests open(list);
    std::int64_t time_ns = saturated_difference(at.monotonic_ns, loaded.start_monotonic_ns);
    std::uint32_t task = task_with_id(loaded, at.task_id);
    if (at.task_id != 0 && task == none) return std::nullopt;
    std::uint32_t thread = thread_with_id(loaded, at.thread_id);
    // Damage may cause a cycle of parents.
    for (std::size_t steps = 0; task < loaded.tasks.size() && steps <= loaded.tasks.size();
         ++steps) {
        if (const auto found = open.in_task(task, time_ns)) return found;
        const task_info& child = loaded.tasks[task];
        thread = child.spawn_thread;
        if (child.parent < loaded.tasks.size()) {
            time_ns = child.spawn_ns.value_or(time_ns);
            task = child.parent;
        } else if (child.awaiter < loaded.tasks.size()) {
            task = child.awaiter;
        } else {
            time_ns = child.spawn_ns.value_or(time_ns);
            task = none;
        }
    }
    return open.on_thread(thread, time_ns);
}

}  // namespace coroscope::analysis
