// SPDX-License-Identifier: Apache-2.0
#include "table_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "utf8.hpp"

namespace coroscope::analysis {
namespace render {
namespace {

struct sort_key {
    std::string_view name;
    std::int64_t (*figure)(const event_average&);
};

std::int64_t running(const event_average& row) { return row.running_ns; }
std::int64_t self_running(const event_average& row) { return row.self_running_ns; }
std::int64_t average(const event_average& row) { return running_average(row).value_or(0); }
std::int64_t count(const event_average& row) { return static_cast<std::int64_t>(row.count); }
std::int64_t suspended(const event_average& row) { return row.suspended_ns; }
std::int64_t queued(const event_average& row) { return row.queued_ns; }
std::int64_t waiting(const event_average& row) { return row.waiting_ns; }
std::int64_t wall(const event_average& row) { return row.wall_ns(); }

/// torch's attribute names, then ours.
constexpr sort_key sort_keys[] = {
    {"cpu_time_total", running}, {"self_cpu_time_total", self_running},
    {"cpu_time", average},       {"count", count},
    {"suspended", suspended},    {"queued", queued},
    {"waiting", waiting},        {"wall", wall},
};

}  // namespace

optional_ns known_sum(const event_average& row, std::int64_t sum_ns) {
    if (row.unknown_count != 0 && row.unknown_count >= row.count) return std::nullopt;
    return sum_ns;
}

optional_ns running_average(const event_average& row) {
    if (row.count == 0) return 0;
    if (row.unknown_count >= row.count) return std::nullopt;
    return row.running_ns / static_cast<std::int64_t>(row.count - row.unknown_count);
}

result<std::vector<std::size_t>> chosen_rows(const table_input& input,
                                             const table_options& options) {
    std::vector<std::size_t> order(input.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!options.sort_by.empty()) {
        const auto* key =
            std::find_if(std::begin(sort_keys), std::end(sort_keys),
                         [&](const sort_key& each) { return each.name == options.sort_by; });
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
    return "cpu_time_total, self_cpu_time_total, cpu_time, count, suspended, queued, waiting, wall";
}

}  // namespace coroscope::analysis
