// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/memory_records.hpp>

#include <algorithm>
#include <utility>

#include "saturated.hpp"

namespace coroscope::analysis {

mem_records_acc::mem_records_acc(std::vector<memory_record> records)
    : records_(std::move(records)) {
    std::stable_sort(records_.begin(), records_.end(),
                     [](const memory_record& left, const memory_record& right) {
                         return left.time_ns < right.time_ns;
                     });
    before_.reserve(records_.size() + 1);
    before_.emplace_back();
    for (const memory_record& each : records_) {
        totals sum = before_.back();
        if (!each.out_of_memory)
            events::add_to(each.device == device_kind::cpu ? sum.cpu : sum.device, each.bytes);
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
    return device == device_kind::cpu ? events::saturated_difference(to.cpu, from.cpu)
                                      : events::saturated_difference(to.device, from.device);
}

}  // namespace coroscope::analysis
