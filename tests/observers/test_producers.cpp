// SPDX-License-Identifier: Apache-2.0

// The operation that produced an address, as emit_nvtx keeps it.

#include "../../lib/integration/emit/recent_producers.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

using coroscope::recent_producers;

TEST_SUITE("producers") {
    TEST_CASE("the last operation with an address as its output is its producer") {
        int one = 0, other = 0;
        recent_producers producers;
        producers.keep(&one, {3, 0});
        producers.keep(&one, {4, 1});
        CHECK(producers.find(&one).id == 4);
        CHECK(producers.find(&one).output == 1);
        CHECK(producers.find(&other).id == 0);
        CHECK(producers.find(&other).output == -1);
    }

    TEST_CASE("the latest of many addresses are known, and their memory is bounded") {
        constexpr std::size_t kept = recent_producers::kept;
        const std::vector<char> addresses(5 * kept + 7);
        recent_producers producers;
        std::size_t most = 0;
        for (std::size_t at = 0; at < addresses.size(); ++at) {
            producers.keep(&addresses[at], {at + 1, 0});
            most = std::max(most, producers.size());
        }
        CHECK(most < 2 * kept);
        CHECK(producers.find(&addresses.front()).output == -1);
        std::size_t unknown = 0;
        for (std::size_t at = addresses.size() - kept; at < addresses.size(); ++at)
            unknown += producers.find(&addresses[at]).id == at + 1 ? 0 : 1;
        CHECK(unknown == 0);
    }
}
