// SPDX-License-Identifier: Apache-2.0

// The state of a store without a free chunk, which a thread may ask for at each record.

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <unistd.h>

#include "lib/runtime/store/chunk.hpp"
#include "store_writer.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

constexpr std::uint32_t few_chunks = 8;

// Waits for the helper's next turn, in which it notes that it can make no more chunks.
void await_full(const chunk_store& store) {
    while (!store.is_full()) std::this_thread::sleep_for(1ms);
}

using writers = std::vector<std::unique_ptr<store_writer>>;

// One writer for each chunk, and some that get no chunk.
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
    TEST_CASE("a store is full once the last chunk is taken, and stays full after a chunk is "
              "handed over") {
        for (const auto policy : {overflow_policy::drop_newest, overflow_policy::wait}) {
            CAPTURE(policy);
            chunk_store store;
            REQUIRE(store.open(store_of(few_chunks, policy)) == 0);
            CHECK_FALSE(store.is_full());
            const writers all = take_all(store);
            await_full(store);
            all.front()->hand_over();  // the chunk stays in the trace
            CHECK(store.is_full());
            CHECK_FALSE(all.back()->hold());
            end(store);
        }
    }

    TEST_CASE("a thread that takes chunks faster than the helper makes them gets every chunk that "
              "the limit allows") {
        constexpr std::uint32_t many_chunks = 16384;
        const scratch_file file;
        for (const auto policy : {overflow_policy::drop_newest, overflow_policy::overwrite_oldest,
                                  overflow_policy::wait})
            for (const char* path : {static_cast<const char*>(nullptr), file.path()}) {
                CAPTURE(policy);
                CAPTURE(path != nullptr);
                chunk_store store;
                REQUIRE(store.open(store_of(many_chunks, policy, path)) == 0);
                store_writer writer(store, 1);
                std::uint32_t held = 0;
                while (writer.write()) {
                    ++held;
                    writer.keep_chunk();
                }
                CHECK(runtime::load_word(&store.header().chunk_count) == many_chunks);
                CHECK(held >=
                      many_chunks / 16 * 15 - 3);  // other chunks are for metadata and tasks
                CHECK(store.write_error() == 0);
                end(store);
            }
    }

    TEST_CASE("a thread that finds no free chunk below the limit overwrites nothing") {
        constexpr std::uint32_t many_chunks = 16384;
        chunk_store store;
        REQUIRE(store.open(store_of(many_chunks, overflow_policy::overwrite_oldest)) == 0);
        store_writer writer(store, 1);
        writer.write(many_chunks / 2 * records_per_chunk);
        CHECK(store.overwritten_records() == 0);
        writer.hand_over();
        end(store);
    }

    TEST_CASE("a store that overwrites is full only while every chunk is held") {
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

    TEST_CASE("a store whose file was cut is full, however many chunks are unused") {
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
