// SPDX-License-Identifier: Apache-2.0

// An operation reads std::chrono::steady_clock twice and subtracts, but does not store the
// difference. This is the lower bound of timing by hand.

#include <chrono>

#include "peer.hpp"

namespace bench {
namespace {

std::uint64_t clock_pairs(std::uint64_t operations) {
    return repeat(operations, [] {
        const auto start = std::chrono::steady_clock::now();
        keep((std::chrono::steady_clock::now() - start).count());
    });
}

}  // namespace

std::vector<row> rows() {
    return {
        recording_peer("peer.steady_clock.1", clock_pairs),
        recording_peer("peer.steady_clock.2", clock_pairs, 2),
    };
}

}  // namespace bench
