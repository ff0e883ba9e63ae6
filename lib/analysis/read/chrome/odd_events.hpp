// SPDX-License-Identifier: Apache-2.0
#pragma once

// The events of a Chrome trace that cannot be taken, counted by reason.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/result.hpp>

namespace coroscope::analysis::inline chrome {

class odd_events {
public:
    explicit odd_events(bool refused) : refused_(refused) {}

    /// Returns whether the file must be refused because of its first odd event.
    [[nodiscard]] bool are_refused() const { return refused_; }
    [[nodiscard]] bool any() const { return !reasons_.empty(); }
    /// Counts an event that is left out because of an error at byte `byte` of the file.
    void add(std::string_view why, std::uint64_t byte);
    /// Returns the first odd event as a failure. Precondition: any().
    [[nodiscard]] failure first() const;
    /// Adds a warning for each reason.
    void warn_of(std::vector<std::string>& warnings) const;

private:
    struct reason {
        std::string why;
        std::uint64_t first_byte = 0;
        std::uint64_t count = 0;
    };

    bool refused_;
    std::vector<reason> reasons_;  // few, so that a search is cheap
};

}  // namespace coroscope::analysis::inline chrome
