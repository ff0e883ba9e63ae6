// SPDX-License-Identifier: Apache-2.0

// Sampling: a geometric countdown per thread, observer and kind of scope.

#include <coroscope/observer.hpp>

#include <cmath>
#include <cstdint>
#include <thread>

#include "observing.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t seed = 42;

/// The gaps between successes of that probability for a seed: splitmix64 and inversion.
class expected_gaps {
public:
    explicit expected_gaps(double probability) : probability_(probability) {}
    std::uint32_t next() {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        mixed ^= mixed >> 31;
        const double u = (static_cast<double>(mixed >> 11) + 1) * 0x1p-53;
        return static_cast<std::uint32_t>(1 + std::floor(std::log(u) / std::log1p(-probability_)));
    }

private:
    std::uint64_t state_ = seed;
    double probability_;
};

struct looked_at {
    int* times;
};
void coroscope_argument(argument_writer& writer, const looked_at& value) noexcept {
    ++*value.times;
    writer.boolean(true);
}

/// The numbers of the scopes that an observer with that probability saw, among `scopes` scopes.
std::vector<int> seen_of(int scopes, double probability) {
    std::vector<int> seen;
    int at = 0;
    const registered here(add_global_observer(observer([&](const scope_info&) {
                                                  seen.push_back(at);
                                              }).sampling_probability(probability)));
    seed_observer_sampling(seed);
    for (at = 0; at < scopes; ++at) {
        COROSCOPE("sampled");
    }
    seed_observer_sampling(0);
    return seen;
}

}  // namespace

TEST_SUITE("observer sampling") {
    TEST_CASE("with probability 1 every scope is seen, and with probability 0 none") {
        CHECK(seen_of(1000, 1).size() == 1000);
        CHECK(seen_of(1000, 0).empty());
    }

    TEST_CASE("the gaps between sampled scopes are those of the geometric countdown") {
        for (const double probability : {0.5, 0.1, 0.01}) {
            expected_gaps gaps(probability);
            int next = -1;
            for (const int seen : seen_of(2000, probability)) {
                next += static_cast<int>(gaps.next());
                CHECK(seen == next);
            }
            CHECK(next + static_cast<int>(gaps.next()) >= 2000);
        }
    }

    TEST_CASE("the number of seen scopes agrees with the probability") {
        const auto seen = static_cast<double>(seen_of(100'000, 0.1).size());
        CHECK(seen > 10'000 - 5 * std::sqrt(9'000));
        CHECK(seen < 10'000 + 5 * std::sqrt(9'000));
    }

    TEST_CASE("a sampled scope has its end, and a scope that is not sampled has none") {
        int starts = 0;
        int ends = 0;
        const registered here(
            add_global_observer(observer([&](const scope_info&) { ++starts; },
                                         [&](const scope_info&, observer_context*) { ++ends; })
                                    .sampling_probability(0.3)));
        for (int each = 0; each < 1000; ++each) {
            COROSCOPE("outer");
            COROSCOPE("inner");
        }
        CHECK(starts > 0);
        CHECK(starts < 2000);
        CHECK(ends == starts);
    }

    TEST_CASE("scopes of one kind do not count down for another kind") {
        std::vector<int> seen;
        int at = 0;
        const registered here(add_global_observer(observer([&](const scope_info& scope) {
                                                      if (scope.kind() == scope_kind::function)
                                                          seen.push_back(at);
                                                  }).sampling_probability(0.1)));
        seed_observer_sampling(seed);
        for (; at < 50; ++at) {
            COROSCOPE("function");
        }
        const std::vector<int> undisturbed = std::exchange(seen, {});
        // From here on the kinds share one generator. The first gap is as before, whatever comes in
        // between.
        seed_observer_sampling(seed);
        expected_gaps gaps(0.1);
        const int first = static_cast<int>(gaps.next()) - 1;
        for (at = 0; at < 50; ++at) {
            {
                COROSCOPE("function");
            }
            const record_function user("user");
        }
        seed_observer_sampling(0);
        REQUIRE_FALSE(undisturbed.empty());
        REQUIRE_FALSE(seen.empty());
        CHECK(undisturbed.front() == first);
        CHECK(seen.front() == first);
    }

    TEST_CASE("each observer counts for itself") {
        int every = 0;
        int some = 0;
        const registered all(add_global_observer(observer([&](const scope_info&) { ++every; })));
        const registered sampled(add_global_observer(
            observer([&](const scope_info&) { ++some; }).sampling_probability(0.2)));
        for (int each = 0; each < 500; ++each) {
            COROSCOPE("x");
        }
        CHECK(every == 500);
        CHECK(some > 0);
        CHECK(some < 500);
    }

    TEST_CASE("each thread counts for itself") {
        const auto run = [](std::vector<int>& seen, int& at) {
            for (at = 0; at < 300; ++at) {
                COROSCOPE("x");
            }
            CHECK_FALSE(seen.empty());
        };
        std::vector<int> seen[2];
        int at[2] = {0, 0};
        thread_local int which = 0;
        const registered here(add_global_observer(observer([&](const scope_info&) {
                                                      seen[which].push_back(at[which]);
                                                  }).sampling_probability(0.05)));
        seed_observer_sampling(seed);
        std::thread first([&] { run(seen[0], at[0]); });
        std::thread second([&] {
            which = 1;
            run(seen[1], at[1]);
        });
        first.join();
        second.join();
        seed_observer_sampling(0);
        CHECK(seen[0] == seen[1]);
    }

    TEST_CASE("values of a scope that no observer sees are not read") {
        int shown = 0;
        const registered here(add_global_observer(
            observer([](const scope_info&) {}).needs_inputs().sampling_probability(0)));
        {
            COROSCOPE_ARGS("unseen", looked_at{&shown});
        }
        CHECK(shown == 0);
        const registered other(
            add_global_observer(observer([](const scope_info&) {}).needs_inputs()));
        {
            COROSCOPE_ARGS("seen", looked_at{&shown});
        }
        CHECK(shown > 0);
    }
}
