// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread's chunks as one stream, in which each record has a position: a 32-bit number that grows
// along the stream. Scopes are kept as positions and decoded in place, because copying tens of
// millions of them costs more than reading them twice.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// The positions of one chunk.
struct chunk_place {
    std::uint32_t first = 0;
    std::uint32_t units = 0;
    const unsigned char* records = nullptr;
};

class stream_records {
public:
    explicit stream_records(std::uint32_t chunk_bytes)
        : units_(chunk_bytes / static_cast<std::uint32_t>(coroscope::trace::record_unit_bytes)) {}

    void add(const coroscope::trace::chunk_view& chunk) { chunks_.push_back(&chunk); }

    [[nodiscard]] const std::vector<const coroscope::trace::chunk_view*>& chunks() const {
        return chunks_;
    }

    /// The position of the record `offset` bytes into the last chunk.
    [[nodiscard]] std::uint32_t position(std::size_t offset) const {
        return static_cast<std::uint32_t>((chunks_.size() - 1) * units_ +
                                          offset / coroscope::trace::record_unit_bytes);
    }

    /// Returns whether there are enough positions for one more chunk.
    [[nodiscard]] bool has_room() const {
        return (chunks_.size() + 1) * std::uint64_t{units_} < 0xffff'ffffU;
    }

    /// The chunk of a position that was given out.
    [[nodiscard]] chunk_place chunk_at(std::uint32_t position) const {
        const std::uint32_t number = position / units_;
        return {number * units_, units_, chunks_[number]->records};
    }

    /// The positions of the chunk with that index in chunks().
    [[nodiscard]] chunk_place chunk(std::size_t index) const {
        return {static_cast<std::uint32_t>(index) * units_, units_, chunks_[index]->records};
    }

    /// The record at a position that was given out; empty if it does not fit any more.
    [[nodiscard]] coroscope::trace::record_view record(std::uint32_t position) const {
        const coroscope::trace::chunk_view& chunk = *chunks_[position / units_];
        const std::size_t offset =
            std::size_t{position % units_} * coroscope::trace::record_unit_bytes;
        return coroscope::trace::record_at(chunk.records + offset, chunk.bytes - offset);
    }

private:
    std::uint32_t units_;  // per chunk
    std::vector<const coroscope::trace::chunk_view*> chunks_;
};

}  // namespace coroscope::analysis::inline records
