// SPDX-License-Identifier: Apache-2.0

// The memory of a process that records into a file.

#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "../support/build.hpp"
#include "../support/memcheck.hpp"
#include "skip.hpp"
#include "store_writer.hpp"

using namespace coroscope;
using namespace coroscope::test;
using runtime::chunk_store;
using trace::overflow_policy;

namespace {

constexpr std::uint32_t trace_chunks = (std::uint32_t{160} << 20) / chunk_bytes;
constexpr std::uint32_t room_chunks = 2 * trace_chunks;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

// The pages of files that the process has mapped and present, in bytes.
std::uint64_t resident_pages_of_files() {
    std::FILE* file = std::fopen("/proc/self/status", "r");
    if (file == nullptr) return 0;
    char line[256];
    unsigned long pages = 0;
    unsigned long shared = 0;  // of tmpfs
    while (std::fgets(line, sizeof line, file) != nullptr) {
        (void)std::sscanf(line, "RssFile: %lu", &pages);
        (void)std::sscanf(line, "RssShmem: %lu", &shared);
    }
    std::fclose(file);
    return (std::uint64_t{pages} + shared) * 1024;
}

std::uint64_t records_in(chunk_store& store, const char* path) {
    store.close();
    store.release_mapping();
    const auto read = trace::reader::open(path);
    REQUIRE(read);
    std::uint64_t records = 0;
    for (const auto& [thread, found] : find_records(*read)) records += found.records.size();
    return records;
}

// Records the whole trace, and returns the most memory that was in use meanwhile.
std::uint64_t most_resident(store_writer& writer) {
    std::uint64_t most = 0;
    for (std::uint32_t chunk = 0; chunk < trace_chunks; ++chunk) {
        writer.write(records_per_chunk);
        if (chunk % 256 == 0) most = std::max(most, resident_pages_of_files());
    }
    return most;
}

}  // namespace

TEST_SUITE("sealed chunks") {
    TEST_CASE("the memory of a process that records into a file does not grow with the trace") {
        if (sanitized || under_memcheck()) {
            COROSCOPE_SKIP("ten million records by one thread at a time take too long");
            return;
        }
        const scratch_file file;
        for (const overflow_policy policy : {overflow_policy::drop_newest, overflow_policy::wait}) {
            CAPTURE(static_cast<int>(policy));
            chunk_store store;
            REQUIRE(store.open(store_of(room_chunks, policy, file.path())) == 0);
            const std::uint64_t before = resident_pages_of_files();
            store_writer writer(store, 1);
            CHECK(most_resident(writer) < before + most_bytes);
            CHECK(writer.dropped() == 0);
            CHECK(records_in(store, file.path()) == trace_chunks * records_per_chunk);
        }
    }

    TEST_CASE("idle threads keep their own chunks in memory, not those around them") {
        if (sanitized || under_memcheck()) {
            COROSCOPE_SKIP("ten million records by one thread at a time take too long");
            return;
        }
        const scratch_file file;
        chunk_store store;
        REQUIRE(store.open(store_of(room_chunks, overflow_policy::drop_newest, file.path())) == 0);
        const std::uint64_t before = resident_pages_of_files();
        std::vector<std::unique_ptr<store_writer>> idle;
        store_writer busy(store, 1);
        for (std::uint32_t thread = 2; thread < 202; ++thread) {
            idle.push_back(std::make_unique<store_writer>(store, thread));
            idle.back()->write(1);
            busy.write(trace_chunks / 200 * records_per_chunk);
        }
        CHECK(resident_pages_of_files() < before + most_bytes);
        for (auto& each : idle) each->write(1);
        CHECK(records_in(store, file.path()) == trace_chunks / 200 * 200 * records_per_chunk + 400);
    }

    TEST_CASE("a chunk that is sealed late is in the trace like the others") {
        const scratch_file file;
        chunk_store store;
        REQUIRE(store.open(store_of(8192, overflow_policy::drop_newest, file.path())) == 0);
        store_writer slow(store, 1);
        store_writer busy(store, 2);
        slow.write(records_per_chunk);
        busy.write(4000 * records_per_chunk);
        slow.write(10);
        slow.hand_over();
        busy.write(2000 * records_per_chunk);
        CHECK(records_in(store, file.path()) == 6001 * records_per_chunk + 10);
    }
}
