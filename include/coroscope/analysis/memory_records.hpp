// SPDX-License-Identifier: Apache-2.0
#pragma once

// mem_records_acc: the memory records of an interval, found by bisection (torch: MemRecordsAcc).

#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Returns the records by time; records of one time keep their order.
[[nodiscard]] COROSCOPE_API std::vector<memory_record>
by_time(const std::vector<memory_record>& records);

/// A value; const access is safe on any thread.
class COROSCOPE_API mem_records_acc {
public:
    /// Orders the records by time; records of one time keep their order.
    explicit mem_records_acc(const std::vector<memory_record>& records);

    /// Returns the positions of the records from start to end, both included.
    [[nodiscard]] index_range in_interval(std::int64_t start_ns, std::int64_t end_ns) const;
    /// `position` must be less than size().
    [[nodiscard]] const memory_record& operator[](std::uint32_t position) const {
        return records_[position];
    }
    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }

    /// Returns the net bytes of these records. Failed allocations do not count.
    [[nodiscard]] std::int64_t bytes(index_range of, device_kind device) const;

private:
    struct totals {
        std::int64_t cpu = 0;
        std::int64_t device = 0;
    };
    std::vector<memory_record> records_;
    std::vector<totals> before_;  // net bytes of all records before that position
};

}  // namespace coroscope::analysis
