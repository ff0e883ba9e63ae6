// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges over a source of items: the delay of the first item, and the gaps between the others.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// All streams of one label.
struct stream_statistics {
    std::string name;
    std::uint64_t count = 0;       ///< streams
    std::uint64_t unfinished = 0;  ///< streams that did not end while the session ran
    std::uint64_t items = 0;
    /// items whose records were lost; the gaps beside them are left out
    std::uint64_t lost_items = 0;
    percentiles first_item;  ///< from the beginning of a stream to its first item
    percentiles gap;         ///< from an item to the next one of the same stream
};

/// Returns one entry per label, in the order of their first stream.
[[nodiscard]] COROSCOPE_API std::vector<stream_statistics>
statistics_of_streams(const trace& loaded);

}  // namespace coroscope::analysis
