// SPDX-License-Identifier: Apache-2.0
#include "table_rows.hpp"

#include <algorithm>
#include <string>

#include "../listing/figure.hpp"

namespace coroscope::analysis::inline tables {
namespace {

using row = function_event_avg;

template <class Member>
bool any(const table_input& input, Member member) {
    return std::any_of(input.rows.begin(), input.rows.end(), member);
}

}  // namespace

std::int64_t whole_flops(const function_event_avg& row) {
    constexpr double limit = 9.2e18;
    return row.flops > 0 ? static_cast<std::int64_t>(std::min(row.flops, limit)) : 0;
}

optional_ns known_sum(const function_event_avg& row, std::int64_t sum_ns) {
    if (row.unknown_count != 0 && row.unknown_count >= row.count) return std::nullopt;
    return sum_ns;
}

optional_ns known_wait(const function_event_avg& row, std::int64_t sum_ns) {
    const bool unseen = row.unknown_count == 0 && known_of_wait(row) == wait_knowledge::nothing;
    return unseen ? std::nullopt : known_sum(row, sum_ns);
}

bool is_least(const function_event_avg& row) {
    return row.unknown_count != 0 || row.partial_count != 0;
}

bool is_least_wait(const function_event_avg& row) {
    return is_least(row) || known_of_wait(row) == wait_knowledge::least;
}

optional_ns known_state(const function_event_avg& row, const state_times& times,
                        std::int64_t part_ns) {
    if (times.known_ns() == 0 && times.unknown_ns != 0) return std::nullopt;
    return known_sum(row, part_ns);
}

optional_ns cpu_average(const function_event_avg& row) {
    if (row.count == 0) return 0;
    if (row.unknown_count >= row.count) return std::nullopt;
    return row.cpu_time_total_ns / static_cast<std::int64_t>(row.count - row.unknown_count);
}

bool has_waits(const table_input& input) {
    // a range outside tasks also has waiting time
    return input.has_tasks || any(input, [](const row& of) {
               return of.in_frame_count != 0 || of.unknown_count != 0 || of.waiting_ns != 0;
           });
}
bool has_states(const table_input& input) { return input.has_states && !input.device_rows; }
bool has_percentiles(const table_input& input) {
    return any(input, [](const row& of) { return of.wall_percentiles.has_value(); });
}
bool has_preempted(const table_input& input) {
    return has_states(input) &&
           any(input, [](const row& of) { return of.states.preempted_ns != 0; });
}
bool has_places(const table_input& input) {
    return std::any_of(input.places.begin(), input.places.end(),
                       [](const std::string& place) { return !place.empty(); });
}
bool has_device_time(const table_input& input) {
    // a range that ended with a stream has a total only
    return any(input, [](const row& of) {
        return of.self_device_time_total_ns > 0 || of.device_time_total_ns > 0;
    });
}
bool has_device_memory(const table_input& input) {
    return input.memory_profile &&
           any(input, [](const row& of) { return of.self_device_memory_usage > 0; });
}
bool has_partial(const table_input& input) {
    return any(input, [](const row& of) { return of.partial_count != 0; });
}
bool has_unfinished(const table_input& input) {
    return any(input, [](const row& of) { return of.unfinished_count != 0; });
}
bool has_nodes(const table_input& input) {
    return any(input, [](const row& of) { return of.node_id != -1; });
}
bool has_overloads(const table_input& input) {
    return any(input, [](const row& of) { return !of.overload_name.empty(); });
}
bool has_shapes(const table_input& input) {
    return any(input, [](const row& of) { return !of.input_shapes.empty(); });
}
bool has_stacks(const table_input& input) {
    return any(input, [](const row& of) { return !of.stack.empty(); });
}
bool has_flops(const table_input& input) {
    return any(input, [](const row& of) { return of.flops > 0; });
}

}  // namespace coroscope::analysis::inline tables
