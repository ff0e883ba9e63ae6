// SPDX-License-Identifier: Apache-2.0

// What a store without a free chunk says of itself, for whoever asks at each record.

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <unistd.h>

#include "store_writer.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

constexpr std::uint32_t few_chunks = 8;

// The helper says in its next turn that no more can be made.
void await_full(const chunk_store& store) {
    while (!store.is_full()) std::this_thread::sleep_for(1ms);
}

using writers = std::vector<std::unique_ptr<store_writer>>;

// One for each chunk, and some that get none.
writers take_all(chunk_store& store) {
    writers all;
    for (std::uint32_t thread = 1; thread <= few_chunks; ++thread) {
        all.push_back(std::make_unique<store_writer>(store, thread));
        all.back()->hold();
    }
    return all;
}

void end(chunk_store& store) {
    store.close();
    store.release_mapping();
}

}  // namespace

TEST_SUITE("full store") {
    TEST_CASE("a store is full once the last chunk is taken, whatever is done without one") {
        for (const auto policy : {overflow_policy::drop_newest, overflow_policy::wait}) {
            CAPTURE(policy);
            chunk_store store;
            REQUIRE(store.open(store_of(few_chunks, policy)) == 0);
            CHECK_FALSE(store.is_full());
            const writers all = take_all(store);
            await_full(store);
            all.front()->hand_over();  // stays in the trace
            CHECK(store.is_full());
            CHECK_FALSE(all.back()->hold());
            end(store);
        }
    }

    TEST_CASE("one that overwrites is full while every chunk is held, and no longer") {
        chunk_store store;
        REQUIRE(store.open(store_of(few_chunks, overflow_policy::overwrite_oldest)) == 0);
        const writers all = take_all(store);
        await_full(store);
        all.front()->hand_over();
        CHECK_FALSE(store.is_full());
        CHECK(all.back()->hold());
        CHECK(store.is_full());
        end(store);
    }

    TEST_CASE("one whose file was cut is full, however much of it nobody used") {
        const scratch_file file;
        for (const auto policy :
             {overflow_policy::drop_newest, overflow_policy::overwrite_oldest}) {
            CAPTURE(policy);
            chunk_store store;
            REQUIRE(store.open(store_of(1024, policy, file.path())) == 0);
            CHECK_FALSE(store.is_full());
            REQUIRE(::truncate(file.path(), 8192) == 0);
            await_full(store);
            CHECK(store.was_cut());
            end(store);
        }
    }

    TEST_CASE("a full store takes threads until one finds no room among the metadata") {
        chunk_store store;
        REQUIRE(store.open(store_of(few_chunks, overflow_policy::drop_newest)) == 0);
        const writers all = take_all(store);
        await_full(store);
        CHECK(store.takes_threads());
        std::uint32_t taken = 0;
        for (; store.append_thread(1, 100 + taken, {}) != nullptr; ++taken)
            CHECK(store.takes_threads());
        CHECK(taken > 0);
        CHECK_FALSE(store.takes_threads());
        end(store);
    }
}
