// SPDX-License-Identifier: Apache-2.0

// A trace that is full for the rest of its session: dropped records are counted, and cost their
// thread little.

#include <chrono>
#include <thread>

#include "../support/helper_turns.hpp"
#include "../support/session_support.hpp"
#include "../support/system_calls.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t chunk_bytes = 4096;
constexpr std::uint64_t few_chunks = 8;
constexpr int more_threads = 200;  // more than the metadata has room for

// Records until the trace is full, and the helper has noted that: it makes no room any more, so
// that all records are lost.
void fill(const profile& session, std::uint64_t& attempted) {
    constexpr std::uint64_t each = 10'000;
    constexpr int most_turns = 1000;
    std::uint64_t lost = 0;
    for (int turn = 0; turn < most_turns && lost != each; ++turn, attempted += each) {
        const std::uint64_t before = session.status().lost_records;
        steps(each);
        lost = session.status().lost_records - before;
        await_helper_turns();
    }
    REQUIRE(lost == each);
}

// Returns whether a new thread can record without a system call. The calls of the helper's turns
// count, too, and in one of them it notes that the trace is full: so there are several attempts.
bool records_without_calls(std::uint64_t& attempted) {
    constexpr std::uint64_t each = 1000;
    std::uint64_t calls = each;
    std::thread([&] {
        steps(1);  // registers the thread
        ++attempted;
        for (int turn = 0; turn < 60'000 && calls != 0; ++turn, attempted += each) {
            const std::uint64_t before = system_calls;
            steps(each);
            calls = system_calls - before;
            if (calls != 0) std::this_thread::sleep_for(1ms);
        }
    }).join();
    return calls == 0;
}

profile_options in_few_chunks(overflow policy) {
    return {.all_threads = true,
            .policy = policy,
            .limit_bytes = 4096 + few_chunks * chunk_bytes,
            .chunk_bytes = chunk_bytes};
}

}  // namespace

TEST_SUITE("full trace") {
    TEST_CASE("the records of a thread that a full trace can't name are counted, without a system "
              "call for each") {
        for (const overflow policy : {overflow::drop_newest, overflow::wait}) {
            std::uint64_t attempted = 0;
            profile session(in_few_chunks(policy));
            fill(session, attempted);
            for (int thread = 0; thread < more_threads; ++thread)
                std::thread([] { steps(1); }).join();
            attempted += more_threads;
            CHECK(records_without_calls(attempted));
            const analysis::trace trace = load(session.stop());
            CHECK(trace.threads.size() < more_threads);
            CHECK(count_steps(trace) + trace.health.dropped_newest == attempted);
        }
    }
}
