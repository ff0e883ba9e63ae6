// SPDX-License-Identifier: Apache-2.0

// When a store's helper sleeps, and who wakes it.

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "lib/runtime/chunk.hpp"
#include "store_writer.hpp"
#include "support/futex_calls.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

// The store's alone: nothing else in this program sleeps on a word meanwhile.
std::uint64_t sleeps_within(std::chrono::milliseconds time) {
    const std::uint64_t before = futex_sleeps;
    std::this_thread::sleep_for(time);
    return futex_sleeps - before;
}

// Until it has made what reserve there is to be.
void await_sleep() {
    const std::uint64_t before = futex_sleeps;
    while (futex_sleeps == before) std::this_thread::sleep_for(1ms);
}

// Until not one record finds room any more.
void fill(chunk_store& store, store_writer& writer, std::uint32_t chunks) {
    std::uint64_t written = 0;
    do {
        written = writer.written();
        writer.write(chunks * records_per_chunk);
    } while (runtime::load_word(&store.header().chunk_count) < chunks ||
             writer.written() != written);
}

constexpr std::uint32_t few_chunks = 64;
constexpr std::uint32_t many_chunks = 8192;

}  // namespace

TEST_SUITE("store helper") {
    TEST_CASE("it sleeps for long while nothing is recorded") {
        chunk_store store;
        REQUIRE(store.open(store_of(many_chunks, overflow_policy::drop_newest)) == 0);
        std::this_thread::sleep_for(200ms);  // its sleeps grow
        CHECK(sleeps_within(500ms) <= 20);
        store.close();
        store.release_mapping();
    }

    TEST_CASE("it sleeps for long where a trace is full and can't grow") {
        for (const auto policy : {overflow_policy::drop_newest, overflow_policy::overwrite_oldest,
                                  overflow_policy::wait}) {
            chunk_store store;
            REQUIRE(store.open(store_of(few_chunks, policy)) == 0);
            store_writer writer(store, 1);
            if (policy == overflow_policy::overwrite_oldest)
                writer.write(2 * few_chunks * records_per_chunk);
            else
                fill(store, writer, few_chunks);
            std::this_thread::sleep_for(200ms);
            CHECK(sleeps_within(500ms) <= 20);
            writer.hand_over();
            store.close();
            store.release_mapping();
        }
    }

    TEST_CASE(
        "who takes a chunk from a reserve of which a quarter is gone wakes it, once in a sleep") {
        chunk_store store;
        REQUIRE(store.open(store_of(many_chunks, overflow_policy::drop_newest)) == 0);
        store_writer writer(store, 1);
        const std::uint64_t sleeps = futex_sleeps, wakes = futex_wakes;
        for (int attempt = 0; attempt < 100 && futex_wakes == wakes; ++attempt) {
            await_sleep();
            // Until it is woken, or wakes by itself.
            while (futex_wakes == wakes && futex_returns != futex_sleeps && writer.hold()) {
            }
        }
        CHECK(futex_wakes != wakes);
        for (int more = 0; more < 64; ++more) writer.hold();  // before it has made any
        CHECK(futex_wakes - wakes <= futex_sleeps - sleeps + 1);
        writer.hand_over();
        store.close();
        store.release_mapping();
    }

    TEST_CASE("nobody wakes it where it can't make room") {
        chunk_store store;
        REQUIRE(store.open(store_of(few_chunks, overflow_policy::drop_newest)) == 0);
        store_writer writer(store, 1);
        fill(store, writer, few_chunks);
        const std::uint64_t wakes = futex_wakes;
        writer.write(1000 * records_per_chunk);
        CHECK(futex_wakes == wakes);
        writer.hand_over();
        store.close();
        store.release_mapping();
    }
}
