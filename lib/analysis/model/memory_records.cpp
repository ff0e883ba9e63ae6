// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/memory_records.hpp>

#include <algorithm>
#include <numeric>

#include "bounded.hpp"

namespace coroscope::analysis {

std::vector<memory_record> by_time(const std::vector<memory_record>& records) {
    std::vector<std::uint32_t> order(records.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::sort(order.begin(), order.end(), [&records](std::uint32_t left, std::uint32_t right) {
        const std::int64_t one = records[left].time_ns;
        const std::int64_t other = records[right].time_ns;
        return one != other ? one < other : left < right;
    });
    std::vector<memory_record> sorted;
    sorted.reserve(records.size());
    for (const std::uint32_t each : order) sorted.push_back(records[each]);
    return sorted;
}

mem_records_acc::mem_records_acc(const std::vector<memory_record>& records)
    : records_(by_time(records)) {
    before_.reserve(records_.size() + 1);
    before_.emplace_back();
    for (const memory_record& each : records_) {
        totals sum = before_.back();
        if (!each.out_of_memory)
            add_to(each.device == device_kind::cpu ? sum.cpu : sum.device, each.bytes);
        before_.push_back(sum);
    }
}

index_range mem_records_acc::in_interval(std::int64_t start_ns, std::int64_t end_ns) const {
    const auto first = std::partition_point(
        records_.begin(), records_.end(),
        [start_ns](const memory_record& each) { return each.time_ns < start_ns; });
    const auto last =
        std::partition_point(first, records_.end(), [end_ns](const memory_record& each) {
            return each.time_ns <= end_ns;
        });
    return {static_cast<std::uint32_t>(first - records_.begin()),
            static_cast<std::uint32_t>(last - first)};
}

std::int64_t mem_records_acc::bytes(index_range of, device_kind device) const {
    if (of.empty()) return 0;
    const totals& from = before_[of.front()];
    const totals& to = before_[of.back() + 1];
    return device == device_kind::cpu ? saturated_difference(to.cpu, from.cpu)
                                      : saturated_difference(to.device, from.device);
}

}  // namespace coroscope::analysis
