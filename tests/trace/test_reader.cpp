// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/reader.hpp>

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "trace_builder.hpp"

namespace trace = coroscope::trace;
using coroscope::test::flipped;
using coroscope::test::sample_trace;
using coroscope::test::trace_builder;
using coroscope::test::truncated;

namespace {

std::size_t records_of(const trace::reader& reader, trace::chunk_kind kind) {
    std::size_t count = 0;
    for (const trace::chunk_view& chunk : reader.chunks())
        if (chunk.header.kind == kind)
            trace::for_each_record(chunk, [&count](const trace::record_view&) { ++count; });
    return count;
}

bool mentions(const std::vector<std::string>& warnings, const std::string& text) {
    for (const std::string& warning : warnings)
        if (warning.find(text) != std::string::npos) return true;
    return false;
}

class temporary_file {
public:
    explicit temporary_file(const std::vector<unsigned char>& bytes) {
        const int file = ::mkstemp(name_.data());
        REQUIRE(file >= 0);
        ::close(file);
        std::ofstream(name_, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    ~temporary_file() { std::remove(name_.c_str()); }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    std::string name_ = "/tmp/coroscope-test-XXXXXX";
};

trace_builder two_scopes() {
    trace_builder built;
    const auto site = built.site("work");
    built.on(1).scope(site, 10, 20).scope(site, 30, 40);
    return built;
}

}  // namespace

TEST_CASE("a reader gives the records of every chunk, ordered by thread and number") {
    trace_builder built;
    const auto site = built.site("work");
    built.on(2).scope(site, 10, 20);
    built.on(1).scope(site, 30, 40);
    built.on(2).next_chunk(50).scope(site, 50, 60);
    const auto bytes = built.finish();
    const auto reader = trace::reader::open(bytes);
    REQUIRE(reader);
    CHECK(reader->warnings().empty());
    REQUIRE(reader->chunks().size() == 4);
    CHECK(reader->chunks()[0].header.kind == trace::chunk_kind::metadata);
    CHECK(reader->chunks()[1].header.thread == 1);
    CHECK(reader->chunks()[2].header.thread == 2);
    CHECK(reader->chunks()[3].header.number > reader->chunks()[2].header.number);
    CHECK(records_of(*reader, trace::chunk_kind::records) == 3);
}

TEST_CASE("a trace reads the same from a file and from memory") {
    const auto built = sample_trace();
    const temporary_file file(built.bytes());
    const auto from_file = trace::reader::open(file.name());
    const auto bytes = built.finish();
    const auto from_memory = trace::reader::open(bytes);
    REQUIRE(from_file);
    REQUIRE(from_memory);
    CHECK(from_file->size() == bytes.size());
    CHECK(from_file->chunks().size() == from_memory->chunks().size());
    CHECK(records_of(*from_file, trace::chunk_kind::records) ==
          records_of(*from_memory, trace::chunk_kind::records));
}

TEST_CASE("an open chunk ends at its first zero tag") {
    auto built = two_scopes();
    built.leave_open();
    const auto bytes = built.finish();
    const auto reader = trace::reader::open(bytes);
    REQUIRE(reader);
    CHECK(reader->warnings().empty());
    CHECK(records_of(*reader, trace::chunk_kind::records) == 2);
}

TEST_CASE("a file that is no trace is refused with the reason") {
    const auto refuse = [](const std::vector<unsigned char>& bytes, const std::string& reason) {
        const auto buffer = trace::buffer::copy(bytes.data(), bytes.size());
        const auto reader = trace::reader::open(buffer);
        REQUIRE_FALSE(reader);
        CHECK(reader.error().message.find(reason) != std::string::npos);
        CHECK(reader.error().byte_offset.has_value());
    };
    refuse({}, "is empty");
    refuse({'{', '"'}, "is not a Coroscope trace");
    refuse(std::vector<unsigned char>(10'000, 'x'), "is not a Coroscope trace");

    auto bytes = two_scopes().bytes();
    bytes[8] = trace::format_version + 1;
    refuse(bytes, "version " + std::to_string(trace::format_version + 1));
    bytes[8] = 0;
    refuse(bytes, "version 0");
    bytes = two_scopes().bytes();
    bytes[16] = 1;
    refuse(bytes, "impossible size");
    bytes = two_scopes().bytes();
    bytes[13] = 0;
    refuse(bytes, "header of a wrong size");
}

TEST_CASE("a file that cannot be read is refused with the reason") {
    const auto missing = trace::reader::open(std::string("/nonexistent/trace.cst"));
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message == "cannot be opened: No such file or directory");
    const auto directory = trace::reader::open(std::string("/"));
    REQUIRE_FALSE(directory);
    CHECK(directory.error().message == "is a directory");
    const auto empty = trace::reader::open(std::string("/dev/null"));
    REQUIRE_FALSE(empty);
    CHECK(empty.error().message == "is empty");
}

TEST_CASE("a sealed chunk with a wrong checksum is left out, named and counted") {
    const auto built = two_scopes();
    const auto bytes = built.bytes();
    const std::size_t chunk = trace::file_header_bytes + trace_builder::small_chunk;
    const auto damaged = flipped(bytes, (chunk + trace::chunk_header_bytes) * 8 + 3);
    const auto reader = trace::reader::open(damaged);
    REQUIRE(reader);
    CHECK(records_of(*reader, trace::chunk_kind::records) == 0);
    CHECK(reader->damaged_chunks() == 1);
    REQUIRE(reader->warnings().size() == 1);
    CHECK(mentions(reader->warnings(), "chunk 2 at byte " + std::to_string(chunk)));
    CHECK(mentions(reader->warnings(), "checksum"));
}

TEST_CASE("a payload that reaches beyond its chunk ends the chunk") {
    auto built = two_scopes();
    built.leave_open();
    built.on(1).raw(5, trace::make_tag(trace::record_kind::label, 1, 1U << 26));
    const auto bytes = built.finish();
    const auto reader = trace::reader::open(bytes);
    REQUIRE(reader);
    CHECK(records_of(*reader, trace::chunk_kind::records) == 2);
    CHECK(mentions(reader->warnings(), "unknown kind or size"));
}

TEST_CASE("a chunk that claims more bytes than it has is left out") {
    auto bytes = two_scopes().bytes();
    const std::size_t chunk = trace::file_header_bytes + trace_builder::small_chunk;
    bytes[chunk + offsetof(trace::chunk_header, used_bytes) + 3] = 0x7f;
    const auto damaged = truncated(bytes, bytes.size());
    const auto reader = trace::reader::open(damaged);
    REQUIRE(reader);
    CHECK(mentions(reader->warnings(), "claims more bytes"));
    CHECK(reader->damaged_chunks() == 1);
}

TEST_CASE("a file cut at any byte gives its whole records and a warning with the byte of the cut") {
    const auto built = sample_trace();
    const auto bytes = built.bytes();
    const auto whole_bytes = built.finish();
    const auto whole = trace::reader::open(whole_bytes);
    REQUIRE(whole);
    const std::size_t all = records_of(*whole, trace::chunk_kind::records);
    std::size_t before = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto cut = truncated(bytes, size);
        const auto reader = trace::reader::open(cut);
        if (size < sizeof(trace::file_header)) {
            REQUIRE_FALSE(reader);
            continue;
        }
        REQUIRE(reader);
        REQUIRE(mentions(reader->warnings(), "cut off at byte " + std::to_string(size)));
        const std::size_t read = records_of(*reader, trace::chunk_kind::records);
        REQUIRE(read >= before);
        REQUIRE(read <= all);
        before = read;
    }
    CHECK(before == all);
}

TEST_CASE("the number of warnings is bounded, however much is damaged") {
    trace_builder built;
    const auto site = built.site("work");
    auto thread = built.on(1);
    for (std::int64_t chunk = 0; chunk < 200; ++chunk)
        thread.next_chunk(chunk).scope(site, chunk, chunk + 1);
    auto bytes = built.bytes();
    for (std::size_t chunk = 1; chunk <= 200; ++chunk)
        bytes[trace::file_header_bytes + chunk * trace_builder::small_chunk +
              trace::chunk_header_bytes] ^= 1U;
    const auto damaged = truncated(bytes, bytes.size());
    const auto reader = trace::reader::open(damaged);
    REQUIRE(reader);
    CHECK(reader->damaged_chunks() == 200);
    CHECK(reader->warnings().size() < 100);
    CHECK(mentions(reader->warnings(), "more"));
}
