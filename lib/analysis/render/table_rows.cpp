// SPDX-License-Identifier: Apache-2.0
#include "table_rows.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "figure.hpp"
#include "utf8.hpp"

namespace coroscope::analysis {
namespace render {
namespace {

using row = function_event_avg;

struct sort_key {
    std::string_view name;
    std::int64_t (*figure)(const row&);
};

/// torch's attribute names, then ours.
constexpr sort_key sort_keys[] = {
    {"cpu_time_total", [](const row& of) { return of.cpu_time_total_ns; }},
    {"self_cpu_time_total", [](const row& of) { return of.self_cpu_time_total_ns; }},
    {"cpu_time", [](const row& of) { return cpu_average(of).value_or(0); }},
    {"device_time_total", [](const row& of) { return of.device_time_total_ns; }},
    {"self_device_time_total", [](const row& of) { return of.self_device_time_total_ns; }},
    {"device_time", [](const row& of) { return of.device_time_ns(); }},
    {"cpu_memory_usage", [](const row& of) { return of.cpu_memory_usage; }},
    {"self_cpu_memory_usage", [](const row& of) { return of.self_cpu_memory_usage; }},
    {"device_memory_usage", [](const row& of) { return of.device_memory_usage; }},
    {"self_device_memory_usage", [](const row& of) { return of.self_device_memory_usage; }},
    {"flops", whole_flops},
    {"count", [](const row& of) { return static_cast<std::int64_t>(of.count); }},
    {"suspended", [](const row& of) { return of.suspended_ns; }},
    {"queued", [](const row& of) { return of.queued_ns; }},
    {"waiting", [](const row& of) { return of.waiting_ns; }},
    {"wall", [](const row& of) { return of.wall_ns; }},
};

/// torch's older names of the device's columns.
std::string present_name(std::string key) {
    for (const std::string_view device : {"cuda", "xpu", "privateuse1"}) {
        const std::size_t at = key.find(device);
        if (at != std::string::npos) return key.replace(at, device.size(), "device");
    }
    return key;
}

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

bool is_least_wait(const function_event_avg& row) {
    return row.unknown_count != 0 || known_of_wait(row) == wait_knowledge::least;
}

optional_ns cpu_average(const function_event_avg& row) {
    if (row.count == 0) return 0;
    if (row.unknown_count >= row.count) return std::nullopt;
    return row.cpu_time_total_ns / static_cast<std::int64_t>(row.count - row.unknown_count);
}

bool has_waits(const table_input& input) {
    // a range outside tasks, too, has time that nobody knows to have been on the CPU
    return input.has_tasks || any(input, [](const row& of) {
               return of.in_frame_count != 0 || of.unknown_count != 0 || of.waiting_ns != 0;
           });
}
bool has_places(const table_input& input) {
    return std::any_of(input.places.begin(), input.places.end(),
                       [](const std::string& place) { return !place.empty(); });
}
bool has_device_time(const table_input& input) {
    // a range that ended with a stream has a total and nothing of its own
    return any(input, [](const row& of) {
        return of.self_device_time_total_ns > 0 || of.device_time_total_ns > 0;
    });
}
bool has_device_memory(const table_input& input) {
    return input.memory_profile &&
           any(input, [](const row& of) { return of.self_device_memory_usage > 0; });
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

result<std::vector<std::size_t>> chosen_rows(const table_input& input,
                                             const table_options& options) {
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < input.rows.size(); ++at)
        if (!options.top_level_events_only || !input.rows[at].has_parent) order.push_back(at);
    if (!options.sort_by.empty()) {
        const auto* key = std::find_if(std::begin(sort_keys), std::end(sort_keys),
                                       [asked = present_name(options.sort_by)](
                                           const sort_key& each) { return each.name == asked; });
        if (key == std::end(sort_keys)) {
            return failure{fmt::format("cannot sort by \"{}\"; one of {}",
                                       printable(options.sort_by), table_sort_keys())};
        }
        std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
            const std::int64_t one = key->figure(input.rows[left]);
            const std::int64_t other = key->figure(input.rows[right]);
            return one != other ? one > other : left < right;
        });
    }
    if (options.row_limit >= 0 && static_cast<std::size_t>(options.row_limit) < order.size()) {
        order.resize(static_cast<std::size_t>(options.row_limit));
    }
    return order;
}

}  // namespace render

std::string_view table_sort_keys() noexcept {
    return "cpu_time_total, self_cpu_time_total, cpu_time, device_time_total, "
           "self_device_time_total, device_time, cpu_memory_usage, self_cpu_memory_usage, "
           "device_memory_usage, self_device_memory_usage, flops, count, suspended, queued, "
           "waiting, wall";
}

}  // namespace coroscope::analysis
