// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the waits for resources.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include "metadata.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// The marks of a wait, which name tasks and threads by their ids.
struct resource_marks {
    std::uint64_t waiter = 0;
    std::uint64_t holder = 0;
    std::uint64_t releaser = 0;
    bool handed_on = false;  ///< the holders of this resource are not known from their releases
};

struct resource_records {
    std::vector<resource_marks> marks;  ///< by index into trace::resource_waits, as it was read
    std::uint64_t malformed = 0;
};

class resource_reader {
public:
    /// Returns whether the fact is a wait for a resource.
    [[nodiscard]] static bool reads(const coroscope::trace::record_view& fact);

    /// Appends to trace::resource_waits and gives the moment at which the wait ended.
    std::int64_t read(const coroscope::trace::record_view& fact, std::uint32_t thread,
                      metadata& names, clock_map& clock, trace& loaded);

    resource_records take() { return std::move(found_); }

private:
    resource_records found_;
};

}  // namespace coroscope::analysis::inline records
