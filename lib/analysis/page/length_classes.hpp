// SPDX-License-Identifier: Apache-2.0
#pragma once

// A histogram of lengths. A class is an eighth of an octave wide, and lengths below eight
// nanoseconds have a class each.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace coroscope::analysis::inline pages {

class length_classes {
public:
    /// Negative lengths, as of damaged traces, count as 0.
    void add(std::int64_t length_ns) { ++counts_[class_of(length_ns)]; }

    /// Returns {"lower_ns":[…],"upper_ns":[…],"count":[…]}, without empty classes.
    [[nodiscard]] std::string json() const;

private:
    static constexpr unsigned parts = 8;

    [[nodiscard]] static unsigned class_of(std::int64_t length_ns) {
        if (length_ns < static_cast<std::int64_t>(parts))
            return length_ns < 0 ? 0 : static_cast<unsigned>(length_ns);
        const auto length = static_cast<std::uint64_t>(length_ns);
        const auto octave = static_cast<unsigned>(std::bit_width(length)) - 1;  // at least 3
        return (octave - 2) * parts + static_cast<unsigned>(length >> (octave - 3)) - parts;
    }
    [[nodiscard]] static std::uint64_t lower_of(unsigned number) {
        if (number < parts) return number;
        const unsigned octave = number / parts + 2;
        return std::uint64_t{parts + number % parts} << (octave - 3);
    }

    std::map<unsigned, std::uint64_t> counts_;  // by class
};

}  // namespace coroscope::analysis::inline pages
