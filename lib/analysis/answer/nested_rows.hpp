// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the events inside another event of the same row. Their times are already part of that
// event's times.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

class nested_rows {
public:
    explicit nested_rows(std::size_t events) : places_(events) {}

    /// Takes an event and returns whether an event around it has the same row. An event must be
    /// taken before the events that it encloses.
    bool take(std::size_t event, std::uint32_t parent, std::uint32_t row) {
        place& here = places_[event];
        here.row = row;
        if (parent >= event) return false;  // none
        const place& above = places_[parent];
        here.up = above.row == row ? above.up : parent;
        if (above.row == row) return true;
        for (std::uint32_t at = above.up; at != none; at = places_[at].up)
            if (places_[at].row == row) return true;
        return false;
    }

    /// Returns the row of an event that was taken, or none.
    [[nodiscard]] std::uint32_t row_of(std::uint32_t event) const {
        return event < places_.size() ? places_[event].row : none;
    }

private:
    struct place {
        std::uint32_t row = none;
        std::uint32_t up =
            none;  // the nearest event around it with another row; so recursion takes one step
    };

    std::vector<place> places_;
};

}  // namespace coroscope::analysis::inline answers
