// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/request_statistics.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "../model/requests.hpp"
#include "../words/places.hpp"
#include "../words/request_words.hpp"
#include "scope_states.hpp"

namespace coroscope::analysis {
namespace {

request_time time_of_scope(const trace& loaded, const event& scope, scope_states& states) {
    request_time found;
    found.time.running_ns = scope.end_ns - scope.start_ns;
    if (scope.detail != none) found.time = loaded.details[scope.detail].time;
    found.states = settled(states.running(scope), found.time.running_ns);
    return found;
}

request_time time_of(const trace& loaded, const request_info& request, scope_states& states) {
    request_time found;
    if (request.event < loaded.events.size()) {
        found = time_of_scope(loaded, loaded.events[request.event], states);
        found.known = is_division_known(loaded, request.event);
    } else if (request.task < loaded.tasks.size()) {
        const task_info& task = loaded.tasks[request.task];
        found.time = task.time;
        found.states = settled(states.of_task(task), found.time.running_ns);
    }
    found.wall_ns = request.wall_ns();
    if (request.left_out) found.known = false;
    return found;
}

struct named_permille {
    std::string_view name;
    std::size_t permille;
};
constexpr named_permille percentiles_shown[] = {
    {"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}, {"max", 1000}};

struct collected_requests {
    request_type sums;
    std::vector<std::size_t> whole;  // places in the list
};

void add_request(collected_requests& into, const request_info& request, std::size_t at) {
    request_type& sums = into.sums;
    sums.late += request.is_late() ? 1 : 0;
    sums.with_deadline += request.deadline_ns ? 1 : 0;
    if (!request.is_whole()) {
        (request.end == request_end::abandoned ? sums.abandoned : sums.unfinished) += 1;
        return;
    }
    ++sums.count;
    sums.failed += request.end == request_end::failed ? 1 : 0;
    add_to(sums.total_ns, request.wall_ns());
    into.whole.push_back(at);
}

// Nearest rank: the smallest wall time that at least this share of the requests does not exceed.
// `sorted`: places in the list, by wall time.
std::vector<request_percentile> rank_percentiles(const std::vector<std::size_t>& sorted,
                                                 const trace& loaded, const request_list& list,
                                                 scope_states& states) {
    std::vector<request_percentile> found;
    for (const named_permille& each : percentiles_shown) {
        if (sorted.empty()) break;
        const std::size_t rank = (sorted.size() * each.permille + 999) / 1000;
        const request_info& request = list.requests[sorted[rank - 1]];
        found.push_back({each.name, request.id, time_of(loaded, request, states)});
    }
    return found;
}

void add_percentiles(collected_requests& of, const trace& loaded, const request_list& list,
                     scope_states& states) {
    std::ranges::stable_sort(of.whole, {},
                             [&](std::size_t at) { return list.requests[at].wall_ns(); });
    of.sums.percentiles = rank_percentiles(of.whole, loaded, list, states);
    of.sums.parts = of.sums.percentiles;
    std::erase_if(of.whole, [&](std::size_t at) { return list.requests[at].left_out; });
    of.sums.in_full = of.whole.size();
    if (of.sums.in_full != of.sums.count)
        of.sums.parts = rank_percentiles(of.whole, loaded, list, states);
}

}  // namespace

std::vector<request_time> times_of_requests(const trace& loaded,
                                            std::span<const request_info> requests) {
    scope_states states(loaded);
    std::vector<request_time> found;
    found.reserve(requests.size());
    for (const request_info& each : requests) found.push_back(time_of(loaded, each, states));
    return found;
}

std::vector<request_type> statistics_of_requests(const trace& loaded, const request_list& list) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;
    std::map<std::string, collected_requests> types;
    for (std::size_t at = 0; at < list.requests.size(); ++at) {
        const request_info& request = list.requests[at];
        const std::uint32_t unnamed = request.name == none ? request.site : none;
        auto [name, is_new] = names.try_emplace({request.name, unnamed});
        if (is_new) name->second = request_name(loaded, request);
        auto [type, is_first] = types.try_emplace(name->second);
        request_type& sums = type->second.sums;
        if (is_first) {
            sums.name = name->second;
            sums.site = request.site;
        } else if (sums.site != request.site) {
            sums.site = none;
        }
        add_request(type->second, request, at);
    }
    const double seconds = static_cast<double>(loaded.duration_ns) / 1e9;
    scope_states states(loaded);
    std::vector<request_type> found;
    for (auto& [name, type] : types) {
        add_percentiles(type, loaded, list, states);
        if (seconds > 0) type.sums.per_second = static_cast<double>(type.sums.count) / seconds;
        found.push_back(std::move(type.sums));
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &request_type::total_ns);
    return found;
}

}  // namespace coroscope::analysis
