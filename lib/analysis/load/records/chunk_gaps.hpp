// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places of the missing chunks of a damaged trace in the threads' sequences. A chunk's number
// gives the order in which chunks were opened, but not the thread.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

class chunk_gaps {
public:
    /// Nothing is missing.
    chunk_gaps() = default;

    /// Finds the gaps of `input`. There are gaps only if the reader left out a chunk or found one
    /// missing.
    chunk_gaps(const coroscope::trace::reader& input, clock_map& clock);

    /// Returns whether a thread may have lost a chunk between its chunks with these numbers, or the
    /// end of the first of them.
    [[nodiscard]] bool between(std::uint64_t number, std::uint64_t next) const;

    /// Returns whether a thread may have lost a chunk after its chunk with that number, or that
    /// chunk's end.
    [[nodiscard]] bool behind(std::uint64_t number) const;

    /// All records before this time are there. Meaningless unless any().
    [[nodiscard]] std::int64_t first_ns() const { return first_ns_; }

    [[nodiscard]] bool any() const { return anywhere_ || !gaps_.empty(); }

private:
    // The missing chunks have the numbers `first` to `last`. If `end_only`, only the end of chunk
    // `first` is missing.
    struct gap {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        bool end_only = false;
    };
    void find(const std::vector<const coroscope::trace::chunk_view*>& present, std::uint64_t opened,
              clock_map& clock);

    std::vector<gap> gaps_;  // by number
    bool anywhere_ = false;  // something is missing at an unknown place
    std::int64_t first_ns_ = 0;
};

}  // namespace coroscope::analysis::inline records
