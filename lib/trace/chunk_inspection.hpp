// SPDX-License-Identifier: Apache-2.0
#pragma once

// Looks at every byte of a chunk: its checksum, and the sizes of its records. Chunks do not depend
// on each other, so several threads may inspect them.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::trace {

/// Returns whether the chunk is of a kind that holds records of any size.
[[nodiscard]] bool holds_records(chunk_kind kind);

struct chunk_inspection {
    /// A copy, because a process that records may change the chunk in the meantime.
    chunk_header header{};
    bool sum_matches = true;     ///< also of a chunk without a checksum
    bool handed_on = false;      ///< several threads wrote to the chunk
    scope_starts starts;         ///< of a chunk whose records all are of kind scope
    std::uint32_t records = 0;   ///< number of whole records of known kinds from the beginning on
    std::size_t bytes = 0;       ///< their bytes
    std::uint64_t next_tag = 0;  ///< the tag behind them; 0: none
};

/// Inspects the chunk at `data`, of which `available` bytes may be read. Only
/// the header is set if it is wrong, or if the chunk has neither a checksum nor records.
[[nodiscard]] chunk_inspection inspect(const unsigned char* data, std::uint64_t available);

}  // namespace coroscope::trace
