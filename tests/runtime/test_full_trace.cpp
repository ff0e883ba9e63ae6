// SPDX-License-Identifier: Apache-2.0

// A trace that is full for the rest of its session: what is dropped is counted, and costs its thread little.

#include <chrono>
#include <thread>

#include "session_support.hpp"
#include "support/system_calls.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t chunk_bytes = 4096;
constexpr std::uint64_t few_chunks = 8;
constexpr int more_threads = 200;  // than its metadata has room for

// The helper says so in its next turn.
void fill(std::uint64_t& attempted) {
    constexpr std::uint64_t each = 10'000;
    for (int turn = 0; turn < 5; ++turn, attempted += each) {
        steps(each);
        std::this_thread::sleep_for(20ms);
    }
}

profile_options in_few_chunks(overflow policy) {
    return {.all_threads = true,
            .policy = policy,
            .limit_bytes = 4096 + few_chunks * chunk_bytes,
            .chunk_bytes = chunk_bytes};
}

}  // namespace

TEST_SUITE("full trace") {
    TEST_CASE("a thread that a full trace can't name is counted, without a system call a record") {
        for (const overflow policy : {overflow::drop_newest, overflow::wait}) {
            std::uint64_t attempted = 0;
            profile session(in_few_chunks(policy));
            fill(attempted);
            for (int thread = 0; thread < more_threads; ++thread)
                std::thread([] { steps(1); }).join();
            std::uint64_t calls = 0;
            std::thread([&calls] {
                steps(1);  // registers the thread
                const std::uint64_t before = system_calls;
                steps(1000);
                calls = system_calls - before;
            }).join();
            attempted += more_threads + 1001;
            CHECK(calls == 0);
            const analysis::trace trace = load(session.stop());
            CHECK(trace.threads.size() < more_threads);
            CHECK(count_steps(trace) + trace.health.dropped_newest == attempted);
        }
    }
}
