// SPDX-License-Identifier: Apache-2.0

// The unused ends of ended threads' chunks, and the threads that write there next.

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "lib/runtime/store/chunk.hpp"
#include "store_writer.hpp"

using namespace coroscope;
using namespace coroscope::test;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

struct read_store {
    trace::buffer bytes;
    trace::reader read;
};

read_store close_and_read(chunk_store& store, const char* path = nullptr) {
    trace::buffer bytes = store.close();
    store.release_mapping();
    auto read = path != nullptr ? trace::reader::open(path) : trace::reader::open(bytes);
    REQUIRE(read);
    return {std::move(bytes), std::move(*read)};
}

// One thread after the other writes `records` records and ends.
void write_in_turn(chunk_store& store, std::uint32_t first, std::uint32_t threads,
                   std::uint64_t records = 1) {
    for (std::uint32_t thread = first; thread < first + threads; ++thread) {
        store_writer writer(store, thread);
        writer.write(records);
        CHECK(writer.dropped() == 0);
        writer.leave();
    }
}

std::size_t chunks_with_records(const trace::reader& read) {
    std::set<std::uint64_t> offsets;
    for (const trace::chunk_view& chunk : read.chunks())
        if (chunk.header.kind == trace::chunk_kind::records) offsets.insert(chunk.offset);
    return offsets.size();
}

std::size_t rests_in(chunk_store& store) {
    std::size_t found = 0;
    for (store_writer taker(store, 99); store.take_rest(99, taker.body(), 0, 0).chunk != nullptr;)
        ++found;
    return found;
}

}  // namespace

TEST_SUITE("rests of chunks") {
    TEST_CASE("threads in turn write to one chunk until it is nearly full, and each has its own "
              "records") {
        const scratch_file file;
        for (const overflow_policy policy :
             {overflow_policy::drop_newest, overflow_policy::overwrite_oldest,
              overflow_policy::wait}) {
            for (const char* path : {static_cast<const char*>(nullptr), file.path()}) {
                CAPTURE(static_cast<int>(policy));
                chunk_store store;
                REQUIRE(store.open(store_of(256, policy, path)) == 0);
                write_in_turn(store, 1, 300, 2);
                const read_store done = close_and_read(store, path);
                // 32 bytes that name a thread, 32 bytes of records; 1,024 bytes at the end stay unused.
                CHECK(chunks_with_records(done.read) == 300 / 48 + 1);
                auto threads = find_records(done.read);
                for (std::uint32_t thread = 1; thread <= 300; ++thread)
                    CHECK(threads[thread].records == std::vector<std::uint64_t>{0, 1});
            }
        }
    }

    TEST_CASE("a section names its thread, its beginning and its task") {
        chunk_store store;
        REQUIRE(store.open(store_of(64, overflow_policy::drop_newest)) == 0);
        store_writer first(store, 3);
        first.write(5);
        trace::chunk_header* const chunk = first.chunk();
        CHECK_FALSE(store.has_rests());
        first.leave();
        CHECK(store.has_rests());
        trace::thread_body* const body = store.append_thread(1, 4, {});
        const chunk_store::section rest = store.take_rest(4, body, 77, 1234);
        CHECK(rest.chunk == chunk);
        CHECK_FALSE(store.has_rests());
        CHECK(store.take_rest(4, body, 77, 1234).chunk == nullptr);
        runtime::publish_word(rest.begin + 8, trace::make_tag(trace::record_kind::scope, 1, 1));
        const auto* const base = reinterpret_cast<const char*>(&store.header());
        const std::uint64_t offset =
            static_cast<std::uint64_t>(reinterpret_cast<const char*>(body) - base);
        const read_store done = close_and_read(store);
        const auto& chunks = done.read.chunks();
        REQUIRE(chunks.size() == 3);  // the first is metadata
        CHECK(chunks[1].header.thread == 3);
        CHECK(chunks[2].header.thread == 4);
        CHECK(chunks[2].header.number == chunks[1].header.number);
        CHECK(chunks[2].header.current_task == 77);
        CHECK(chunks[2].header.opened_ticks == 1234);
        CHECK(chunks[2].header.thread_body_offset == offset);
        CHECK(chunks[2].bytes == trace::record_unit_bytes);
    }

    TEST_CASE("a chunk in which a place was taken and not written is no rest") {
        chunk_store store;
        REQUIRE(store.open(store_of(64, overflow_policy::drop_newest)) == 0);
        store_writer interrupted(store, 1);
        interrupted.write(3);
        interrupted.skip_place();
        interrupted.write(1);
        interrupted.leave();
        CHECK_FALSE(store.has_rests());
        CHECK(find_records(close_and_read(store).read)[1].records ==
              std::vector<std::uint64_t>{0, 1, 2});
    }

    TEST_CASE(
        "a chunk with little room left is no rest, nor is a chunk whose cursor is behind its end") {
        chunk_store store;
        REQUIRE(store.open(store_of(64, overflow_policy::drop_newest)) == 0);
        store_writer nearly(store, 1);
        nearly.write(records_per_chunk - 1023 / trace::record_unit_bytes);
        nearly.leave();
        CHECK_FALSE(store.has_rests());
        store_writer full(store, 2);
        full.write(records_per_chunk);
        full.skip_place();
        full.leave();
        CHECK_FALSE(store.has_rests());
        store_writer enough(store, 3);
        enough.write(records_per_chunk - 1024 / trace::record_unit_bytes);
        enough.leave();
        CHECK(store.has_rests());
        store.close();
        store.release_mapping();
    }

    TEST_CASE("a thread that had a chunk takes only whole chunks from then on") {
        chunk_store store;
        REQUIRE(store.open(store_of(64, overflow_policy::drop_newest)) == 0);
        store_writer busy(store, 1);
        busy.write(1);
        write_in_turn(store, 2, 1);
        busy.write(records_per_chunk);
        CHECK(store.has_rests());
        busy.leave();
        std::uint64_t last = 0;
        const read_store done = close_and_read(store);
        for (const trace::chunk_view& chunk : done.read.chunks()) {
            if (chunk.header.thread != 1) continue;
            CHECK(chunk.header.number > last);
            last = chunk.header.number;
        }
    }

    TEST_CASE("rests in up to an eighth of the limit's chunks wait, and the other chunks are "
              "handed over") {
        for (const overflow_policy policy :
             {overflow_policy::drop_newest, overflow_policy::overwrite_oldest}) {
            chunk_store store;
            REQUIRE(store.open(store_of(80, policy)) == 0);
            std::vector<std::unique_ptr<store_writer>> writers;
            for (std::uint32_t thread = 1; thread <= 30; ++thread)
                writers.push_back(std::make_unique<store_writer>(store, thread));
            for (auto& writer : writers) writer->write(1);
            for (auto& writer : writers) writer->leave();
            CHECK(rests_in(store) == 10);
            CHECK(find_records(close_and_read(store).read).size() >= 30);
        }
    }

    TEST_CASE("a new thread finds a rest if no chunk is free") {
        chunk_store store;
        REQUIRE(store.open(store_of(16, overflow_policy::drop_newest)) == 0);
        store_writer busy(store, 2);
        busy.write(1);
        write_in_turn(store, 1, 1);
        busy.write(100 * records_per_chunk);
        CHECK(busy.dropped() > 0);
        write_in_turn(store, 3, 5);
        auto threads = find_records(close_and_read(store).read);
        for (std::uint32_t thread = 3; thread < 8; ++thread)
            CHECK(threads[thread].records == std::vector<std::uint64_t>{0});
    }

    TEST_CASE("the overwritten records of a chunk are counted for each thread that wrote there") {
        const scratch_file file;
        for (const char* path : {static_cast<const char*>(nullptr), file.path()}) {
            chunk_store store;
            REQUIRE(store.open(store_of(32, overflow_policy::overwrite_oldest, path)) == 0);
            constexpr std::uint32_t threads = 200;
            for (std::uint32_t thread = 1; thread <= threads; ++thread)
                write_in_turn(store, thread, 1, thread % 4);
            store_writer busy(store, threads + 1);
            busy.write(100 * records_per_chunk);
            CHECK(busy.dropped() == 0);
            std::uint64_t lost = 0;
            auto found = find_records(close_and_read(store, path).read);
            for (std::uint32_t thread = 1; thread <= threads; ++thread) {
                CHECK(found[thread].overwritten + found[thread].records.size() == thread % 4);
                lost += found[thread].overwritten;
            }
            CHECK(lost > 100);
            CHECK(found[threads + 1].overwritten + found[threads + 1].records.size() ==
                  busy.written());
        }
    }

    TEST_CASE("a rest is overwritten if nothing else is left") {
        chunk_store store;
        REQUIRE(store.open(store_of(8, overflow_policy::overwrite_oldest)) == 0);
        write_in_turn(store, 1, 1, 3);
        std::vector<std::unique_ptr<store_writer>> held;
        do {
            held.push_back(std::make_unique<store_writer>(store, 10));
            CHECK((store.has_rests() || !held.back()->hold()));
        } while (store.has_rests());
        CHECK(store.overwritten_records() == 3);
        CHECK(find_records(close_and_read(store).read)[1].overwritten == 3);
    }

    TEST_CASE("rests in a store that closes do no harm") {
        chunk_store store;
        REQUIRE(store.open(store_of(64, overflow_policy::drop_newest)) == 0);
        write_in_turn(store, 1, 1);
        store_writer late(store, 2);
        late.write(3);
        const trace::buffer bytes = store.close();
        late.leave();
        CHECK(store.take_rest(3, nullptr, 0, 0).chunk == nullptr);
        auto read = trace::reader::open(bytes);
        REQUIRE(read);
        CHECK(find_records(*read)[1].records == std::vector<std::uint64_t>{0});
        CHECK(find_records(*read)[2].records == std::vector<std::uint64_t>{0, 1, 2});
        store.release_mapping();
    }

    TEST_CASE("eight threads at once hand chunks on, and lose and double no record") {
        for (const overflow_policy policy :
             {overflow_policy::drop_newest, overflow_policy::overwrite_oldest}) {
            chunk_store store;
            REQUIRE(store.open(
                        store_of(policy == overflow_policy::drop_newest ? 4096 : 64, policy)) == 0);
            constexpr std::uint32_t lives = 100;
            constexpr std::uint32_t at_once = 8;
            std::vector<std::thread> threads;
            for (std::uint32_t place = 0; place < at_once; ++place)
                threads.emplace_back([&store, place] {
                    for (std::uint32_t life = 0; life < lives; ++life) {
                        store_writer writer(store, life * at_once + place + 1);
                        writer.write(life % 7 * 11);
                        CHECK(writer.dropped() == 0);
                        writer.leave();
                    }
                });
            for (std::thread& thread : threads) thread.join();
            auto found = find_records(close_and_read(store).read);
            for (std::uint32_t thread = 1; thread <= lives * at_once; ++thread) {
                const found_thread& each = found[thread];
                const std::uint64_t written = (thread - 1) / at_once % 7 * 11;
                CHECK(each.overwritten + each.records.size() == written);
                for (std::size_t at = 0; at < each.records.size(); ++at)
                    CHECK(each.records[at] == each.overwritten + at);
            }
        }
    }
}
