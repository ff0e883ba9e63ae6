// SPDX-License-Identifier: Apache-2.0

// Chunks that threads hand on: the reader gives each thread's records as a chunk of its own.

#include <coroscope/trace/reader.hpp>

#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "trace_builder.hpp"

namespace trace = coroscope::trace;
using coroscope::test::flipped;
using coroscope::test::ticks_of;
using coroscope::test::trace_builder;
using coroscope::test::truncated;

namespace {

// Three threads in one chunk. The second one wrote nothing; the third one also wrote a chunk of its
// own.
trace_builder handed_on() {
    trace_builder built;
    const auto site = built.site("work");
    built.on(1).scope(site, 10, 20).scope(site, 30, 40);
    built.on(2).takes_over(1, 45);
    built.on(3).takes_over(2, 50, 9).scope(site, 60, 70).next_chunk(80).scope(site, 90, 95);
    return built;
}

constexpr std::size_t chunk_begin = trace::file_header_bytes + trace_builder::small_chunk;
constexpr std::size_t records_begin = chunk_begin + trace::chunk_header_bytes;
constexpr std::size_t first_taken = records_begin + 2 * trace::record_unit_bytes;
constexpr std::size_t second_taken = first_taken + 32;

std::size_t records_of(const trace::reader& reader, std::uint32_t thread) {
    std::size_t count = 0;
    for (const trace::chunk_view& chunk : reader.chunks())
        if (chunk.header.kind == trace::chunk_kind::records && chunk.header.thread == thread)
            trace::for_each_record(chunk, [&count](const trace::record_view& record) {
                CHECK(record.kind() == trace::record_kind::scope);
                ++count;
            });
    return count;
}

trace::reader open(const trace::buffer& bytes) {
    auto reader = trace::reader::open(bytes);
    REQUIRE(reader);
    return std::move(*reader);
}

void check_damage(const trace::reader& reader, std::size_t byte, std::size_t of_second_owner) {
    CHECK(records_of(reader, 1) == 2);
    CHECK(records_of(reader, 3) == 1 + of_second_owner);
    CHECK(reader.damaged_chunks() == 1);
    REQUIRE(reader.warnings().size() == 1);
    CHECK(
        reader.warnings()[0] ==
        "chunk 2 at byte " + std::to_string(chunk_begin) +
            ": it is handed on to a thread that is none; the rest of the chunk is left out (byte " +
            std::to_string(byte) + ")");
}

}  // namespace

TEST_CASE("each thread's records in a chunk that was handed on are a chunk of the thread") {
    for (const bool open_chunks : {false, true}) {
        auto built = handed_on();
        if (open_chunks) built.leave_open();
        const auto bytes = built.finish();
        const auto reader = open(bytes);
        CHECK(reader.warnings().empty());
        CHECK(reader.damaged_chunks() == 0);
        REQUIRE(reader.chunks().size() == 4);
        const trace::chunk_view& first = reader.chunks()[1];
        const trace::chunk_view& third = reader.chunks()[2];
        CHECK(first.header.thread == 1);
        CHECK(first.bytes == 2 * trace::record_unit_bytes);
        CHECK(third.header.thread == 3);
        CHECK(third.header.number == first.header.number);
        CHECK(third.offset == first.offset);
        CHECK(third.header.opened_ticks == ticks_of(50));
        CHECK(third.header.current_task == 9);
        CHECK(third.header.thread_body_offset % trace::record_unit_bytes == 0);
        CHECK(third.bytes == trace::record_unit_bytes);
        CHECK(reader.chunks()[3].header.thread == 3);
        CHECK(reader.chunks()[3].header.number > third.header.number);
    }
}

TEST_CASE("a thread that gets back a chunk that it handed on has its records in order") {
    trace_builder built;
    const auto site = built.site("work");
    built.on(2).scope(site, 10, 20);
    built.on(1).takes_over(2, 25).scope(site, 30, 40);
    built.on(2).takes_over(1, 45).scope(site, 50, 60);
    const auto bytes = built.finish();
    const auto reader = open(bytes);
    REQUIRE(reader.chunks().size() == 4);
    CHECK(reader.chunks()[2].header.thread == 2);
    CHECK(reader.chunks()[3].header.thread == 2);
    CHECK(reader.chunks()[2].records < reader.chunks()[3].records);
}

TEST_CASE("a chunk is left out from a record that hands it to no thread, or that contradicts its "
          "description") {
    auto built = handed_on();
    built.leave_open();
    const auto whole = built.bytes();
    constexpr std::size_t tag = second_taken + 8;
    constexpr std::size_t offset = second_taken + 24;
    // Another thread's id, no thread, another description's place, an offset that is no place for a
    // description, and an offset behind the end.
    for (const auto& [at, bit] :
         {std::pair{tag, 5}, {tag, 5 + 30}, {offset, 6}, {offset, 3}, {offset, 60}}) {
        CAPTURE(at);
        CAPTURE(bit);
        check_damage(open(flipped(whole, at * 8 + static_cast<std::size_t>(bit))), second_taken, 0);
    }
    auto nobody = whole;
    const std::uint64_t none = trace::make_tag(trace::record_kind::next_thread, 0, 0);
    std::memcpy(nobody.data() + tag, &none, sizeof(none));
    check_damage(open(truncated(nobody, nobody.size())), second_taken, 0);
}

TEST_CASE("a chunk with a wrong checksum is left out whole, even if it was handed on") {
    const auto bytes = handed_on().bytes();
    const auto damaged = flipped(bytes, second_taken * 8);
    const auto reader = open(damaged);
    CHECK(records_of(reader, 1) == 0);
    CHECK(records_of(reader, 3) == 1);
    CHECK(reader.damaged_chunks() == 1);
}

TEST_CASE("a thread without a description keeps its records in a chunk that was handed on") {
    auto built = handed_on();
    built.leave_open();
    auto bytes = built.bytes();
    std::memset(bytes.data() + trace::file_header_bytes, 0, trace_builder::small_chunk);
    const auto undescribed = truncated(bytes, bytes.size());
    const auto reader = open(undescribed);
    CHECK(reader.warnings().empty());
    CHECK(records_of(reader, 1) == 2);
    CHECK(records_of(reader, 3) == 2);
}

TEST_CASE("a file that is cut in a record that hands on a chunk ends before that record") {
    auto built = handed_on();
    built.leave_open();
    const auto bytes = built.bytes();
    for (std::size_t size = second_taken; size < second_taken + 32; ++size) {
        const auto cut = truncated(bytes, size);
        const auto reader = open(cut);
        CHECK(records_of(reader, 1) == 2);
        CHECK(records_of(reader, 3) == 0);
        REQUIRE(reader.warnings().size() == 1);
        CHECK(reader.warnings()[0].starts_with("the file is cut off"));
        CHECK(reader.damaged_chunks() == 2);  // the cut chunk, and the chunk behind it
    }
}

TEST_CASE("a chunk of a trace of version 1 is never handed on") {
    auto built = handed_on();
    built.header.version = 1;
    const auto bytes = built.finish();
    const auto reader = open(bytes);
    CHECK(records_of(reader, 1) == 2);
    CHECK(records_of(reader, 3) == 1);
    CHECK(reader.damaged_chunks() == 1);
}
