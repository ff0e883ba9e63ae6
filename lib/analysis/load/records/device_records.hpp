// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the records of devices, and of tasks that wait for their streams.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include "flat_index.hpp"
#include "metadata.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// Distinct ids, numbered in the order in which records first named them.
struct id_list {
    flat_index numbers;
    std::vector<std::uint64_t> ids;

    std::uint32_t insert(std::uint64_t id) {
        const std::uint32_t number = numbers.insert(id);
        if (number == ids.size()) ids.push_back(id);
        return number;
    }
};

/// A stream that must wait for an event, the number of the call that made it wait, and the number
/// of the call that recorded the event.
struct dependency_record {
    device_dependency made;
    std::uint32_t correlation = 0;
    std::uint32_t awaited_correlation = 0;
};

/// A range that ends when a stream reaches a point, by its label.
struct range_wait {
    std::int64_t time_ns = 0;
    std::uint32_t serial = 0;
    std::uint32_t thread_id = 0;  ///< logical id of the thread on which it began
    std::uint32_t context = none;
    std::uint32_t stream = none;
};

/// The result of reading the records. Until link_devices has run, the tasks and threads of
/// activities and waits are indices into these lists.
struct device_records {
    id_list tasks;
    id_list os_threads;
    std::vector<dependency_record> dependencies;
    std::vector<range_wait> ranges;
    std::uint64_t malformed = 0;
    std::uint64_t backward = 0;  ///< activities that ended before they began, taken as 0 long
};

class device_reader {
public:
    /// Appends to trace::device_activities and returns the time at which the activity ended.
    std::int64_t read(const coroscope::trace::record_view& record, metadata& names,
                      clock_map& clock, trace& loaded);

    /// Appends to trace::device_waits or, if a range waits, to device_records::ranges.
    void read_wait(const coroscope::trace::record_view& record, clock_map& clock, trace& loaded);

    device_records take() { return std::move(found_); }

private:
    void read_dependency(const coroscope::trace::record_view& record,
                         const coroscope::trace::device_body& body, clock_map& clock);

    device_records found_;
};

}  // namespace coroscope::analysis::inline records
