// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells which of several sequences comes next, with as many comparisons per step as the binary
// logarithm of their number.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coroscope::analysis::loading {

/// `Before(left, right)` says whether entrant `left` comes before entrant `right`.
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

    /// To be called when the winner has moved on.
    void replay() {
        for (std::size_t node = (leaves_ + winner()) / 2; node > 0; node /= 2) decide(node);
    }

private:
    // Fills the tree up to a power of two, from the right: of two, the left is somebody if either is.
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

}  // namespace coroscope::analysis::loading
