// SPDX-License-Identifier: Apache-2.0
#include <coroscope/macro.hpp>

#include "peer.hpp"

namespace bench {

std::uint64_t our_scopes(std::uint64_t operations) {
    return repeat(operations, [] { COROSCOPE("bench"); });
}

std::uint64_t empty_loop(std::uint64_t operations) {
    return repeat(operations, [] {});
}

}  // namespace bench
