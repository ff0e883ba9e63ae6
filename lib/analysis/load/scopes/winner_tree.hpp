// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges sorted sequences: finds the sequence with the next element. Each step takes as many
// comparisons as the binary logarithm of the number of sequences.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coroscope::analysis::inline scopes {

/// An entrant is the number of a sequence. `before(left, right)` returns whether the next element
/// of `left` comes before that of `right`.
template <class Before>
class winner_tree {
public:
    /// Entrants are 0 to `entrants` - 1; there is at least one.
    winner_tree(std::size_t entrants, Before before)
        : before_(std::move(before)), leaves_(std::bit_ceil(entrants)), winners_(2 * leaves_) {
        for (std::size_t leaf = 0; leaf < leaves_; ++leaf)
            winners_[leaves_ + leaf] = leaf < entrants ? static_cast<std::uint32_t>(leaf) : nobody;
        for (std::size_t node = leaves_ - 1; node > 0; --node) decide(node);
    }

    [[nodiscard]] std::uint32_t winner() const { return winners_[1]; }

    /// Must be called after the winner's sequence has advanced to its next element.
    void replay() {
        for (std::size_t node = (leaves_ + winner()) / 2; node > 0; node /= 2) decide(node);
    }

private:
    // Fills the leaves at the right end up to a power of two. If only one of two neighbours is an
    // entrant, it is therefore the left one.
    static constexpr std::uint32_t nobody = 0xffff'ffff;

    void decide(std::size_t node) {
        const std::uint32_t left = winners_[2 * node];
        const std::uint32_t right = winners_[2 * node + 1];
        winners_[node] = right != nobody && before_(right, left) ? right : left;
    }

    Before before_;
    std::size_t leaves_;
    std::vector<std::uint32_t>
        winners_;  // of each match; the last half are the entrants themselves
};

}  // namespace coroscope::analysis::inline scopes
