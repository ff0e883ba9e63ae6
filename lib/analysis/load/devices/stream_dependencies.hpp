// SPDX-License-Identifier: Apache-2.0
#pragma once

// The dependencies of streams on other streams, followed from stream to stream.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stream_search.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline devices {

/// Keeps references. trace::device_dependencies must be in order.
class stream_dependencies {
public:
    stream_dependencies(const trace& loaded, const stream_search& streams)
        : loaded_(loaded), streams_(streams) {}

    /// Adds to `awaited` the work for which its streams had to wait at `time_ns` or later, each
    /// stream once. An unknown stream has the number none. Returns false if there are too many
    /// dependencies; the rest is then left out.
    bool follow(std::vector<asked_work>& awaited, std::int64_t time_ns);

private:
    static constexpr std::size_t most_streams = 64;
    static constexpr std::size_t most_dependencies = 4096;  // of one await

    /// The dependencies that a stream got between two moments: positions in
    /// trace::device_dependencies.
    [[nodiscard]] index_range between(const asked_work& work, std::int64_t from_ns) const;

    const trace& loaded_;
    const stream_search& streams_;
    std::size_t budget_ = std::size_t{1} << 24;  // dependencies that all calls may visit
};

}  // namespace coroscope::analysis::inline devices
