// SPDX-License-Identifier: Apache-2.0

// The sleeps of a store's helper, and the threads that wake it.

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

#include <coroscope/trace/reader.hpp>

#include "../support/futex_calls.hpp"
#include "lib/runtime/store/chunk.hpp"
#include "lib/runtime/store/chunk_demand.hpp"
#include "scratch_file.hpp"
#include "store_writer.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;
using runtime::chunk_demand;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

// Waits for `count` sleeps of the helper. No other thread of this program sleeps on a word
// meanwhile.
void await_sleeps(std::uint64_t count) {
    const std::uint64_t enough = futex_sleeps + count;
    while (futex_sleeps < enough) std::this_thread::sleep_for(1ms);
}

// The helper's sleeps grow longer first. Their real length depends on the machine, the requested
// length does not.
std::chrono::nanoseconds shortest_of_later_sleeps() {
    await_sleeps(10);
    shortest_sleep_ns = INT64_MAX;
    await_sleeps(3);
    return std::chrono::nanoseconds(shortest_sleep_ns);
}

// Writes until no further record finds room.
void fill(chunk_store& store, store_writer& writer, std::uint32_t chunks) {
    std::uint64_t written = 0;
    do {
        written = writer.written();
        writer.write(chunks * records_per_chunk);
    } while (runtime::load_word(&store.header().chunk_count) < chunks ||
             writer.written() != written);
}

// A chunk for the kernel's facts, for which it waits as the kernel's log does. None after ten
// seconds.
trace::chunk_header* chunk_for_kernel(chunk_store& store) {
    for (int round = 0; round < 10'000; ++round) {
        if (trace::chunk_header* const chunk = store.acquire_for_kernel(1)) return chunk;
        std::this_thread::sleep_for(1ms);
    }
    return nullptr;
}

constexpr std::uint32_t few_chunks = 64;
constexpr std::uint32_t many_chunks = 8192;

}  // namespace

TEST_SUITE("chunk demand") {
    TEST_CASE(
        "until the span is over, the demand is the number of chunks that were opened so far") {
        chunk_demand demand(1000);
        demand.note(3, 1'000'000);  // the first turn, long after the machine's start
        CHECK(demand.chunks() == 0);
        demand.note(5, 1'000'001);
        CHECK(demand.chunks() == 2);
        demand.note(25, 1'000'999);
        CHECK(demand.chunks() == 22);
    }

    TEST_CASE("after more than a span the demand is the share of one span") {
        chunk_demand demand(1000);
        demand.note(0, 1'000'000);
        demand.note(100, 1'010'000);
        CHECK(demand.chunks() == 10);
        demand.note(200, 1'011'000);
        CHECK(demand.chunks() == 100);
    }

    TEST_CASE("the demand stays through the next span, and then falls") {
        chunk_demand demand(1000);
        demand.note(0, 1'000'000);
        demand.note(100, 1'001'000);
        demand.note(101, 1'001'900);
        CHECK(demand.chunks() == 100);
        demand.note(101, 1'002'000);
        CHECK(demand.chunks() == 1);
        demand.note(101, 1'003'000);
        CHECK(demand.chunks() == 0);
    }
}

TEST_SUITE("store helper") {
    TEST_CASE("the helper sleeps for long while nothing is recorded") {
        chunk_store store;
        REQUIRE(store.open(store_of(many_chunks, overflow_policy::drop_newest)) == 0);
        CHECK(shortest_of_later_sleeps() >= 25ms);
        store.close();
        store.release_mapping();
    }

    TEST_CASE("the kernel's facts get chunks while no thread records") {
        chunk_store store;
        REQUIRE(store.open(store_of(many_chunks, overflow_policy::drop_newest)) == 0);
        for (int taken = 0; taken < 1000; ++taken) {
            CAPTURE(taken);
            trace::chunk_header* const chunk = chunk_for_kernel(store);
            REQUIRE(chunk != nullptr);
            store.hand_over(chunk);
        }
        store.close();
        store.release_mapping();
    }

    TEST_CASE("the helper's reserve is for live threads, not for ended ones") {
        chunk_store store;
        REQUIRE(store.open(store_of(2 * many_chunks, overflow_policy::drop_newest)) == 0);
        for (std::uint32_t thread = 1; thread <= 2 * many_chunks; ++thread) {
            store_writer writer(store, thread);
            writer.write(1);
            writer.leave();
        }
        await_sleeps(3);
        CHECK(runtime::load_word(&store.header().chunk_count) < 2 * many_chunks);
        store.close();
        store.release_mapping();
    }

    TEST_CASE("the helper sleeps for long if a trace is full and can't grow") {
        for (const auto policy : {overflow_policy::drop_newest, overflow_policy::overwrite_oldest,
                                  overflow_policy::wait}) {
            chunk_store store;
            REQUIRE(store.open(store_of(few_chunks, policy)) == 0);
            store_writer writer(store, 1);
            if (policy == overflow_policy::overwrite_oldest)
                writer.write(2 * few_chunks * records_per_chunk);
            else
                fill(store, writer, few_chunks);
            CHECK(shortest_of_later_sleeps() >= 25ms);
            writer.hand_over();
            store.close();
            store.release_mapping();
        }
    }

    TEST_CASE("a thread that takes a chunk from a reserve of which a quarter is gone wakes the "
              "helper, once in a sleep") {
        chunk_store store;
        REQUIRE(store.open(store_of(many_chunks, overflow_policy::drop_newest)) == 0);
        store_writer writer(store, 1);
        const std::uint64_t sleeps = futex_sleeps, wakes = futex_wakes;
        for (int attempt = 0; attempt < 100 && futex_wakes == wakes; ++attempt) {
            await_sleeps(1);  // the helper has made its reserve
            // Until the helper is woken, or wakes by itself.
            while (futex_wakes == wakes && futex_returns != futex_sleeps && writer.hold()) {
            }
        }
        CHECK(futex_wakes != wakes);
        for (int more = 0; more < 64; ++more) writer.hold();  // before the helper has made any
        CHECK(futex_wakes - wakes <= futex_sleeps - sleeps + 1);
        writer.hand_over();
        store.close();
        store.release_mapping();
    }

    TEST_CASE("a thread does not wake the helper if the helper can't make room") {
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

    TEST_CASE("the helper treats a file whose mapping was replaced as cut, and keeps the file's "
              "content") {
        const scratch_file file;
        runtime::watched_file watched;
        chunk_store::settings wanted = store_of(few_chunks, overflow_policy::drop_newest);
        wanted.path = file.path();
        wanted.watched = &watched;
        chunk_store store;
        REQUIRE(store.open(wanted) == 0);
        CHECK(store.write_error() == 0);
        watched.replaced = true;
        while (store.write_error() == 0) std::this_thread::sleep_for(1ms);
        CHECK(store.write_error() == ESTALE);
        CHECK(store.was_cut());
        store.close();
        store.release_mapping();
        CHECK(trace::reader::open(file.path()));
    }
}
