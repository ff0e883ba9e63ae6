// SPDX-License-Identifier: Apache-2.0
#pragma once

// What streams were made to wait for in other streams, and those in yet others.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stream_search.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// Keeps references. trace::device_dependencies must be in order.
class stream_dependencies {
public:
    stream_dependencies(const trace& loaded, const stream_search& streams)
        : loaded_(loaded), streams_(streams) {}

    /// Adds to `awaited` what these streams had to wait for at `time_ns` or later before they could do it, each stream
    /// once; a stream of which nobody knows has the number none. False where there is more of it than is followed:
    /// then the rest is left out.
    bool follow(std::vector<asked_work>& awaited, std::int64_t time_ns);

private:
    static constexpr std::size_t most_streams = 64;
    static constexpr std::size_t most_dependencies = 4096;  // of one await

    /// Of a stream, as it was told to wait between two moments: positions in trace::device_dependencies.
    [[nodiscard]] index_range between(const asked_work& work, std::int64_t from_ns) const;

    const trace& loaded_;
    const stream_search& streams_;
    std::size_t budget_ = std::size_t{1} << 24;  // of dependencies that are looked at in all
};

}  // namespace coroscope::analysis::loading
