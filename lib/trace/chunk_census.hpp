// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts a trace's chunks, to detect missing and duplicated ones. A session numbers its chunks from
// 1, and its header has the number of chunks in use at the stop.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/trace/format.hpp>

namespace coroscope::trace {

class chunk_census {
public:
    /// Adds a readable chunk. `whole`: the file has all of its bytes.
    void add(const chunk_header& header, std::uint64_t offset, bool whole);

    /// Adds a place that has neither a readable chunk nor zeros.
    void add_unreadable() { ++places_; }

    /// Ends the additions. Must be called before the functions below.
    void sort();

    /// A number that several chunks have, with their offsets.
    struct shared_number {
        std::uint64_t number = 0;
        std::vector<std::uint64_t> offsets;
    };
    [[nodiscard]] std::vector<shared_number> shared_numbers() const;

    /// Returns the number of chunks that the finished trace had and that are missing, without the
    /// `known_lost` ones. Returns 0 if the process died, because the number is then unknown.
    [[nodiscard]] std::uint64_t missing(const file_header& header, std::uint64_t known_lost) const;

    /// "2 of 9 chunks are missing; no intact chunk has the numbers 3, 5-6".
    [[nodiscard]] std::string describe(const file_header& header, std::uint64_t missing) const;

private:
    struct place {
        std::uint64_t number;
        std::uint64_t offset;
    };

    [[nodiscard]] std::uint64_t expected(const file_header& header) const;
    [[nodiscard]] std::string absent_numbers(std::uint64_t last) const;

    std::vector<place> found_;
    std::uint64_t places_ = 0;
};

}  // namespace coroscope::trace
