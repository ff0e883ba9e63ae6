// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the activities of device streams in logarithmic time, also if they overlap.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline devices {

/// The work that was requested from a stream before `before_ns`, the start of a call.
struct asked_work {
    std::uint32_t context = none;
    std::uint32_t stream = none;
    std::int64_t before_ns = 0;
};

/// Keeps a reference to the trace, whose stream_order must be complete.
class stream_search {
public:
    explicit stream_search(const trace& loaded);

    /// Returns the part of the work that ran between two times, as positions in
    /// trace::stream_order.
    [[nodiscard]] index_range find(const asked_work& work, std::int64_t from_ns,
                                   std::int64_t until_ns) const;

    /// Returns all activities of the stream.
    [[nodiscard]] index_range all_of(std::uint32_t context, std::uint32_t stream) const;

    /// Returns the time of the latest request that the stream had reached by `time_ns`. A stream
    /// works in the order of requests.
    [[nodiscard]] std::int64_t reached_ns(std::uint32_t context, std::uint32_t stream,
                                          std::int64_t time_ns) const;

private:
    [[nodiscard]] const device_activity& activity(std::size_t at) const {
        return loaded_.device_activities[loaded_.stream_order[at]];
    }
    [[nodiscard]] bool begins_stream(std::size_t at) const;
    [[nodiscard]] std::int64_t asked_ns(std::size_t at) const;

    const trace& loaded_;
    std::vector<std::int64_t> latest_end_ns_;    // by position: maximum of its stream up to there
    std::vector<std::int64_t> latest_asked_ns_;  // the same
    std::vector<std::int64_t> least_asked_ns_;   // by position: minimum of its stream from there on
};

}  // namespace coroscope::analysis::inline devices
