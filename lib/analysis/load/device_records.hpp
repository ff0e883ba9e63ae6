// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes what was recorded of devices, and of tasks that wait for their streams.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include "flat_index.hpp"
#include "symbols.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::loading {

/// Ids by the order in which they were first named.
struct id_list {
    flat_index numbers;
    std::vector<std::uint64_t> ids;

    std::uint32_t insert(std::uint64_t id) {
        const std::uint32_t number = numbers.insert(id);
        if (number == ids.size()) ids.push_back(id);
        return number;
    }
};

/// A stream that was made to wait, and the numbers of the calls that did so and that recorded what it waits for.
struct dependency_record {
    device_dependency made;
    std::uint32_t correlation = 0;
    std::uint32_t awaited_correlation = 0;
};

/// A range that ends where a stream comes to, by its label.
struct range_wait {
    std::int64_t time_ns = 0;
    std::uint32_t serial = 0;
    std::uint32_t thread_id = 0;  ///< logical id of the thread where it began
    std::uint32_t context = none;
    std::uint32_t stream = none;
};

/// What is known once the records have been read. Until link_devices has run, the tasks and threads of
/// activities and waits are numbers of these lists.
struct device_records {
    id_list tasks;
    id_list os_threads;
    std::vector<dependency_record> dependencies;
    std::vector<range_wait> ranges;
    std::uint64_t malformed = 0;
    std::uint64_t backward = 0;  ///< ended before they began: they count as moments
};

class device_reader {
public:
    /// Appends to trace::device_activities and gives the moment at which the activity ended.
    std::int64_t read(const coroscope::trace::record_view& record, symbols& names, clock_map& clock,
                      trace& loaded);

    /// Appends to trace::device_waits, or to the ranges.
    void read_wait(const coroscope::trace::record_view& record, clock_map& clock, trace& loaded);

    device_records take() { return std::move(found_); }

private:
    void read_dependency(const coroscope::trace::record_view& record,
                         const coroscope::trace::device_body& body, clock_map& clock);

    device_records found_;
};

}  // namespace coroscope::analysis::loading
