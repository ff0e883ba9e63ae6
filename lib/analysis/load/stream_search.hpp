// SPDX-License-Identifier: Apache-2.0
#pragma once

// What streams of devices did, found in logarithmic time, however much overlaps.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// What a stream had been asked to do before a moment, that of a call.
struct asked_work {
    std::uint32_t context = none;
    std::uint32_t stream = none;
    std::int64_t before_ns = 0;
};

/// Keeps a reference to the trace, whose stream_order must be complete.
class stream_search {
public:
    explicit stream_search(const trace& loaded);

    /// What of that work ran between two moments: positions in trace::stream_order.
    [[nodiscard]] index_range find(const asked_work& work, std::int64_t from_ns,
                                   std::int64_t until_ns) const;

    /// All that the stream did.
    [[nodiscard]] index_range all_of(std::uint32_t context, std::uint32_t stream) const;

    /// By then the stream had come to what was asked of it at the moment that is given back: streams work in order.
    [[nodiscard]] std::int64_t reached_ns(std::uint32_t context, std::uint32_t stream,
                                          std::int64_t time_ns) const;

private:
    [[nodiscard]] const device_activity& activity(std::size_t at) const {
        return loaded_.device_activities[loaded_.stream_order[at]];
    }
    [[nodiscard]] bool begins_stream(std::size_t at) const;
    [[nodiscard]] std::int64_t asked_ns(std::size_t at) const;

    const trace& loaded_;
    std::vector<std::int64_t> latest_end_ns_;    // by position: of the stream up to there
    std::vector<std::int64_t> latest_asked_ns_;  // the same
    std::vector<std::int64_t> least_asked_ns_;   // by position: of the stream from there on
};

}  // namespace coroscope::analysis::loading
