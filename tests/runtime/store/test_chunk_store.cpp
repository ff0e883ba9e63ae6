// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store_writer.hpp"

using namespace coroscope;
using namespace coroscope::test;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> all;
    for (; from < to; ++from) all.push_back(from);
    return all;
}

struct finished_trace {
    trace::buffer bytes;  // the memory of the reader; empty for a file
    trace::reader read;
};

// Closes a store, in memory or in a file, and reads its trace.
finished_trace finish(chunk_store& store, const char* path = nullptr) {
    trace::buffer bytes = store.close();
    store.release_mapping();
    CHECK(bytes.empty() == (path != nullptr));
    auto read = path != nullptr ? trace::reader::open(path) : trace::reader::open(bytes);
    REQUIRE(read);
    CHECK(read->header().finished == 1);
    return {std::move(bytes), std::move(*read)};
}

std::map<std::uint32_t, found_thread> finish_and_find(chunk_store& store,
                                                      const char* path = nullptr) {
    return find_records(finish(store, path).read);
}

}  // namespace

TEST_SUITE("chunk store") {
    TEST_CASE("a new chunk is empty and names the thread that writes to it") {
        chunk_store store;
        REQUIRE(store.open(store_of(16, overflow_policy::drop_newest)) == 0);
        trace::thread_body* const body = store.append_thread(1, 3, {});
        trace::chunk_header* const chunk = store.acquire(3, body, 77, 1234);
        REQUIRE(chunk != nullptr);
        CHECK(chunk->magic == trace::chunk_magic);
        CHECK(chunk->kind == trace::chunk_kind::records);
        CHECK(chunk->state == trace::chunk_state::open);
        CHECK(chunk->thread == 3);
        CHECK(chunk->current_task == 77);
        CHECK(chunk->opened_ticks == 1234);
        const auto* base = reinterpret_cast<const char*>(&store.header());
        CHECK(base + chunk->thread_body_offset == reinterpret_cast<const char*>(body));
        const auto* bytes = reinterpret_cast<const char*>(chunk);
        CHECK(std::all_of(bytes + trace::chunk_header_bytes, bytes + chunk_bytes,
                          [](char c) { return c == 0; }));
        CHECK(store.acquire(3, body, 77, 1235)->number == chunk->number + 1);
        store.close();
        store.release_mapping();
    }

    TEST_CASE("chunks that were handed over are in the trace, sealed and in order") {
        const scratch_file file;
        for (const char* path : {static_cast<const char*>(nullptr), file.path()}) {
            CAPTURE(path != nullptr);
            chunk_store store;
            REQUIRE(store.open(store_of(1024, overflow_policy::drop_newest, path)) == 0);
            store_writer writer(store, 1);
            writer.write(100 * records_per_chunk + 5);
            writer.hand_over();
            const finished_trace done = finish(store, path);
            const trace::reader& read = done.read;
            CHECK(find_records(read)[1].records == numbers(0, 100 * records_per_chunk + 5));
            for (const trace::chunk_view& chunk : read.chunks())
                CHECK(chunk.header.state == trace::chunk_state::sealed);
            CHECK(read.header().chunk_count == 103);  // two for metadata; the reserve is cut off
            CHECK(read.header().write_error == 0);
            CHECK(read.header().last.ticks > read.header().start.ticks);
        }
    }

    TEST_CASE("an open chunk is sealed up to its last record, and later writes are in no trace") {
        const scratch_file file;
        for (const char* path : {static_cast<const char*>(nullptr), file.path()}) {
            CAPTURE(path != nullptr);
            chunk_store store;
            REQUIRE(store.open(store_of(64, overflow_policy::drop_newest, path)) == 0);
            store_writer writer(store, 1);
            writer.write(10);
            const trace::buffer bytes = store.close();
            writer.write(10);
            CHECK_FALSE(writer.hold());
            CHECK_FALSE(store.append_metadata(1, trace::make_tag(trace::record_kind::string, 1, 1),
                                              "x", 1));
            CHECK(store.close().empty());
            auto read = path != nullptr ? trace::reader::open(path) : trace::reader::open(bytes);
            REQUIRE(read);
            CHECK(find_records(*read)[1].records == numbers(0, 10));
            store.release_mapping();
        }
    }

    TEST_CASE("a full store drops the newest records, and still takes a name for a recorded one") {
        chunk_store store;
        REQUIRE(store.open(store_of(8, overflow_policy::drop_newest)) == 0);
        std::vector<std::unique_ptr<store_writer>> writers;
        for (std::uint32_t thread = 1; thread <= 12; ++thread) {
            writers.push_back(std::make_unique<store_writer>(store, thread));
            CHECK(writers.back()->body() != nullptr);
            writers.back()->write(2 * records_per_chunk);
        }
        std::uint64_t dropped = 0;
        for (const auto& writer : writers) dropped += writer->dropped();
        CHECK(dropped == (12 * 2 - 7) * records_per_chunk);  // one of the eight is metadata
        CHECK(
            store.append_metadata(0, trace::make_tag(trace::record_kind::string, 9, 4), "late", 4));
        auto threads = finish_and_find(store);
        CHECK(threads.size() == 12);
        CHECK(threads[1].records == numbers(0, 2 * records_per_chunk));
        CHECK(threads[4].records == numbers(0, records_per_chunk));
        CHECK(threads[5].records.empty());
    }

    TEST_CASE("the oldest records are overwritten and counted: found and lost records add up") {
        const scratch_file file;
        for (const char* path : {static_cast<const char*>(nullptr), file.path()}) {
            CAPTURE(path != nullptr);
            chunk_store store;
            REQUIRE(store.open(store_of(16, overflow_policy::overwrite_oldest, path)) == 0);
            store_writer writer(store, 1);
            writer.write(500 * records_per_chunk + 7);
            CHECK(writer.dropped() == 0);
            found_thread found = finish_and_find(store, path)[1];
            CHECK(found.overwritten + found.records.size() == writer.written());
            CHECK(found.records == numbers(found.overwritten, writer.written()));
            CHECK(found.records.size() > 10 * records_per_chunk);
        }
    }

    TEST_CASE("a chunk that an idle thread holds is never overwritten") {
        chunk_store store;
        REQUIRE(store.open(store_of(16, overflow_policy::overwrite_oldest)) == 0);
        store_writer idle(store, 1);
        store_writer busy(store, 2);
        idle.write(3);
        busy.write(200 * records_per_chunk);
        CHECK(busy.dropped() == 0);
        auto threads = finish_and_find(store);
        CHECK(threads[1].records == numbers(0, 3));
        CHECK(threads[1].overwritten == 0);
        CHECK(threads[2].overwritten > 0);
    }

    TEST_CASE("overwriting takes no chunk from a thread, even if there is no other chunk") {
        chunk_store store;
        REQUIRE(store.open(store_of(8, overflow_policy::overwrite_oldest)) == 0);
        std::vector<std::unique_ptr<store_writer>> writers;
        std::uint32_t held = 0;
        for (std::uint32_t thread = 1; thread <= 12; ++thread) {
            writers.push_back(std::make_unique<store_writer>(store, thread));
            if (writers.back()->hold()) ++held;
        }
        CHECK(held == 7);  // one of the eight is metadata
        writers.front()->hand_over();
        CHECK(writers.back()->hold());
        store.close();
        store.release_mapping();
    }

    TEST_CASE("a wait for a chunk ends if the limit allows no more") {
        chunk_store store;
        REQUIRE(store.open(store_of(64, overflow_policy::wait)) == 0);
        store_writer writer(store, 1);
        writer.write(100 * records_per_chunk);
        CHECK(writer.written() == 62 * records_per_chunk);  // two of the 64 are for metadata
        CHECK(writer.written() + writer.dropped() == 100 * records_per_chunk);
        CHECK(finish_and_find(store)[1].records == numbers(0, writer.written()));
    }

    TEST_CASE("waiting loses nothing below the limit") {
        const scratch_file file;
        chunk_store store;
        REQUIRE(store.open(store_of(8192, overflow_policy::wait, file.path())) == 0);
        std::vector<std::thread> threads;
        for (std::uint32_t thread = 1; thread <= 4; ++thread)
            threads.emplace_back([&store, thread] {
                store_writer writer(store, thread);
                writer.write(1500 * records_per_chunk);
                writer.hand_over();
                CHECK(writer.dropped() == 0);
            });
        for (std::thread& thread : threads) thread.join();
        auto found = finish_and_find(store, file.path());
        for (std::uint32_t thread = 1; thread <= 4; ++thread)
            CHECK(found[thread].records == numbers(0, 1500 * records_per_chunk));
    }

    TEST_CASE("64 threads at once lose and double no record") {
        for (const overflow_policy policy :
             {overflow_policy::drop_newest, overflow_policy::overwrite_oldest}) {
            CAPTURE(static_cast<int>(policy));
            constexpr std::uint64_t records = 50 * records_per_chunk;
            chunk_store store;
            REQUIRE(store.open(store_of(256, policy)) == 0);
            std::atomic<std::uint64_t> dropped{0};
            std::vector<std::thread> threads;
            for (std::uint32_t thread = 1; thread <= 64; ++thread)
                threads.emplace_back([&, thread] {
                    store_writer writer(store, thread);
                    writer.write(records);
                    writer.hand_over();
                    dropped += writer.dropped();
                });
            for (std::thread& thread : threads) thread.join();
            std::uint64_t accounted = dropped;
            for (auto& [thread, found] : finish_and_find(store)) {
                accounted += found.overwritten + found.records.size();
                CHECK(std::is_sorted(found.records.begin(), found.records.end()));
                CHECK(std::set(found.records.begin(), found.records.end()).size() ==
                      found.records.size());
            }
            CHECK(accounted == 64 * records);
        }
    }

    TEST_CASE("a store closes under threads that go on writing") {
        const scratch_file file;
        for (int round = 0; round < 20; ++round) {
            const char* const path = round % 2 == 0 ? file.path() : nullptr;
            const auto policy =
                round % 4 < 2 ? overflow_policy::overwrite_oldest : overflow_policy::drop_newest;
            chunk_store store;
            REQUIRE(store.open(store_of(64, policy, path)) == 0);
            std::atomic<bool> stop{false};
            std::vector<std::thread> threads;
            for (std::uint32_t thread = 1; thread <= 4; ++thread)
                threads.emplace_back([&, thread] {
                    store_writer writer(store, thread);
                    while (!stop) writer.write(10);
                    writer.hand_over();
                });
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
            const trace::buffer bytes = store.close();
            auto read = path != nullptr ? trace::reader::open(path) : trace::reader::open(bytes);
            stop = true;
            for (std::thread& thread : threads) thread.join();
            store.release_mapping();
            REQUIRE(read);
            for (auto& [thread, found] : find_records(*read))
                CHECK(std::adjacent_find(found.records.begin(), found.records.end(),
                                         [](auto a, auto b) { return a >= b; }) ==
                      found.records.end());
        }
    }

    TEST_CASE("live tasks are in the table until they finish") {
        chunk_store store;
        auto settings = store_of(1024, overflow_policy::overwrite_oldest);
        settings.task_table = true;
        REQUIRE(store.open(settings) == 0);
        for (std::uint64_t task = 1; task <= 2000; ++task)
            REQUIRE(store.put_task({task, task * 10, task / 2, 7, trace::spawn_started}));
        for (std::uint64_t task = 1; task <= 2000; ++task)
            if (task % 3 != 0) store.take_task(task);
        std::set<std::uint64_t> live;
        const finished_trace done = finish(store);
        const trace::reader& read = done.read;
        for (const trace::chunk_view& chunk : read.chunks()) {
            if (chunk.header.kind != trace::chunk_kind::tasks) continue;
            for (std::size_t at = 0; at < chunk.bytes; at += sizeof(trace::task_slot)) {
                trace::task_slot slot;
                std::memcpy(&slot, chunk.records + at, sizeof(slot));
                if (slot.task == 0) continue;
                live.insert(slot.task);
                CHECK(slot.spawn_ticks == slot.task * 10);
                CHECK(slot.parent == slot.task / 2);
            }
        }
        CHECK(live.size() == 666);
        CHECK(std::all_of(live.begin(), live.end(),
                          [](std::uint64_t task) { return task % 3 == 0; }));
        CHECK(read.header().tasks_without_slot == 0);
    }

    TEST_CASE("a task without a free slot near is refused and counted") {
        chunk_store store;
        auto settings = store_of(16, overflow_policy::overwrite_oldest);
        CHECK(store.open(settings) == 0);
        CHECK_FALSE(store.put_task({1, 0, 0, 0, 0}));
        CHECK(store.header().tasks_without_slot == 0);
        store.close();
        store.release_mapping();
        settings.task_table = true;
        REQUIRE(store.open(settings) == 0);
        std::uint64_t refused = 0;
        for (std::uint64_t task = 1; task <= 1000; ++task)
            if (!store.put_task({task, 0, 0, 0, 0})) ++refused;
        CHECK(refused >= 1000 - 126);  // slots of one chunk of 4096 bytes
        CHECK(store.header().tasks_without_slot == refused);
        store.close();
        store.release_mapping();
    }

    TEST_CASE("a metadata record whose tag does not fit its payload is refused") {
        chunk_store store;
        REQUIRE(store.open(store_of(16, overflow_policy::drop_newest)) == 0);
        CHECK_FALSE(
            store.append_metadata(0, trace::make_tag(trace::record_kind::string, 1, 40), "x", 1));
        CHECK_FALSE(
            store.append_metadata(0, trace::make_tag(trace::record_kind::site, 1, 0), "x", 1));
        CHECK(store.append_metadata(0, trace::make_tag(trace::record_kind::string, 1, 1), "x", 1));
        CHECK(finish_and_find(store).empty());
    }

    TEST_CASE("impossible settings and paths are errors, and leave nothing behind") {
        const scratch_file file;
        chunk_store store;
        CHECK(store.open({nullptr, 1 << 20, 1000, overflow_policy::drop_newest, false}) == EINVAL);
        CHECK(store.open({nullptr, 4096, 4096, overflow_policy::drop_newest, false}) == EINVAL);
        CHECK(store.open(store_of(16, overflow_policy::drop_newest, "/nowhere/trace.cst")) ==
              ENOENT);
        CHECK(store.open(store_of(16, overflow_policy::drop_newest, "/dev/null")) == EINVAL);
        CHECK(store.open(store_of(16, overflow_policy::drop_newest, file.folder().c_str())) ==
              EISDIR);
        REQUIRE(::symlink("/dev/null", file.path()) == 0);
        CHECK(store.open(store_of(16, overflow_policy::drop_newest, file.path())) == ELOOP);
        CHECK(store.close().empty());
        store.release_mapping();
    }

    TEST_CASE("two stores never share a file, and a stale one is replaced") {
        const scratch_file file;
        chunk_store first;
        chunk_store second;
        REQUIRE(first.open(store_of(64, overflow_policy::drop_newest, file.path())) == 0);
        CHECK(second.open(store_of(64, overflow_policy::drop_newest, file.path())) == EBUSY);
        store_writer(first, 1).write(5);
        CHECK(finish_and_find(first, file.path())[1].records.size() == 5);
        struct stat about{};
        REQUIRE(::stat(file.path(), &about) == 0);
        CHECK((about.st_mode & 0777) == 0600);
        REQUIRE(second.open(store_of(64, overflow_policy::drop_newest, file.path())) == 0);
        CHECK(finish_and_find(second, file.path()).empty());
    }

    TEST_CASE("a forked child leaves its parent's trace alone") {
        const scratch_file file;
        chunk_store store;
        REQUIRE(store.open(store_of(64, overflow_policy::drop_newest, file.path())) == 0);
        store_writer writer(store, 1);
        writer.write(5);
        const pid_t child = ::fork();
        if (child == 0) {
            store.abandon_after_fork();
            writer.write(50);
            writer.body()->dropped_newest = 99;
            const bool more = writer.hold();
            const bool empty = store.close().empty();
            store.release_mapping();
            ::_exit(!more && empty ? 0 : 1);
        }
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        writer.write(5);
        CHECK(writer.body()->dropped_newest == 0);
        CHECK(finish_and_find(store, file.path())[1].records == numbers(0, 10));
    }
}
