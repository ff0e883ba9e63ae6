// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/pack.hpp>

#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <coroscope/trace/pack_format.hpp>
#include <coroscope/trace/reader.hpp>
#include <xxhash.h>

#include "trace_builder.hpp"

namespace trace = coroscope::trace;
using coroscope::test::sample_trace;
using coroscope::test::trace_builder;

namespace {

using bytes = std::vector<unsigned char>;

trace::buffer copied(const bytes& of) { return trace::buffer::copy(of.data(), of.size()); }

bytes packed(const trace::buffer& whole) {
    bytes out;
    const auto done = trace::pack(whole, [&out](std::string_view text) {
        out.insert(out.end(), text.begin(), text.end());
        return true;
    });
    REQUIRE(done);
    CHECK(done->trace_bytes == whole.size());
    CHECK(done->packed_bytes == out.size());
    return out;
}

bool same_chunk(const trace::chunk_view& one, const trace::chunk_view& other) {
    return std::memcmp(&one.header, &other.header, sizeof(one.header)) == 0 &&
           one.offset == other.offset && one.bytes == other.bytes &&
           std::memcmp(one.records, other.records, one.bytes) == 0;
}

/// Compares everything that a reader gives.
void check_same(const trace::reader& one, const trace::reader& other) {
    CHECK(std::memcmp(&one.header(), &other.header(), sizeof(one.header())) == 0);
    CHECK(one.size() == other.size());
    CHECK(one.warnings() == other.warnings());
    CHECK(one.damaged_chunks() == other.damaged_chunks());
    REQUIRE(one.chunks().size() == other.chunks().size());
    for (std::size_t at = 0; at < one.chunks().size(); ++at)
        REQUIRE(same_chunk(one.chunks()[at], other.chunks()[at]));
}

void check_lossless(const bytes& content) {
    const auto whole = copied(content);
    const auto before = trace::reader::open(whole);
    REQUIRE(before);
    const auto small = packed(whole);
    const auto small_buffer = copied(small);
    const auto after = trace::reader::open(small_buffer);
    REQUIRE(after);
    check_same(*before, *after);
    CHECK(after->packed_size() == small.size());
    CHECK(before->packed_size() == 0);
}

/// Three blocks of eight chunks.
trace_builder long_trace() {
    constexpr std::size_t chunk = 512U << 10;
    trace_builder built(chunk);
    const auto site = built.site("work");
    auto thread = built.on(1);
    for (std::int64_t at = 1; at < 20; ++at)
        thread.next_chunk(at * 100).scope(site, at * 100 + 1, at * 100 + 9);
    return built;
}

trace::pack_block_header block_at(const bytes& from, std::size_t offset) {
    trace::pack_block_header header;
    std::memcpy(&header, from.data() + offset, sizeof(header));
    REQUIRE(header.magic == trace::pack_block_magic);
    return header;
}

std::size_t first_block(const bytes& from) {
    trace::pack_header header;
    std::memcpy(&header, from.data(), sizeof(header));
    return sizeof(header) + header.header_bytes;
}

std::size_t behind(const bytes& from, std::size_t block) {
    return block + sizeof(trace::pack_block_header) + block_at(from, block).packed_bytes;
}

/// Gives a block with changed content the checksums of that content.
void seal(bytes& in, std::size_t block) {
    auto header = block_at(in, block);
    header.checksum = XXH3_64bits(in.data() + block + sizeof(header), header.packed_bytes);
    header.header_checksum =
        XXH3_64bits(&header, offsetof(trace::pack_block_header, header_checksum));
    std::memcpy(in.data() + block, &header, sizeof(header));
}

/// Scopes of uneven lengths, by a clock that advances in steps of `step`. Every hundredth time is
/// `odd` off.
bytes stepping_trace(std::int64_t step, std::int64_t odd) {
    trace_builder built(std::size_t{32} << 10);
    const auto site = built.site("work");
    auto thread = built.on(1);
    std::uint32_t random = 1;
    std::int64_t now = 1000;
    for (int at = 0; at < 1500; ++at) {
        random = random * 1664525 + 1013904223;
        const std::int64_t start = now + (random >> 16) % 4096;
        now = start + (random >> 24);
        const std::int64_t off = at % 100 == 0 ? odd : 0;
        thread.scope(site, start * step + off, now * step + off);
    }
    return built.bytes();
}

void refuse(const bytes& content, const std::string& reason) {
    const auto buffer = copied(content);
    const auto reader = trace::reader::open(buffer);
    REQUIRE_FALSE(reader);
    CHECK_MESSAGE(reader.error().message.find(reason) != std::string::npos, reader.error().message);
    CHECK(reader.error().byte_offset.has_value());
}

}  // namespace

TEST_CASE("a packed trace with every kind of record reads as it did before") {
    check_lossless(sample_trace().bytes());
    auto built = sample_trace();
    built.header.finished = 0;
    built.leave_open();
    check_lossless(built.bytes());
}

TEST_CASE("a trace of several blocks reads as it did before") {
    const auto content = long_trace().bytes();
    check_lossless(content);
    const auto small = packed(copied(content));
    std::size_t blocks = 0;
    for (std::size_t at = first_block(small); at < small.size(); at = behind(small, at)) ++blocks;
    CHECK(blocks == 3);
}

TEST_CASE("records with the largest numbers are packed without loss") {
    trace_builder built;
    const std::uint64_t most = ~std::uint64_t{0};
    auto thread = built.on(1);
    for (const std::uint64_t first : {std::uint64_t{0}, most, most / 2, std::uint64_t{1}})
        for (const std::uint64_t each : {most, std::uint64_t{0}, most / 2 + 1}) {
            for (unsigned kind = 1; kind < 20; ++kind) {
                const auto tag = trace::make_tag(static_cast<trace::record_kind>(kind),
                                                 static_cast<std::uint32_t>(each), 16);
                thread.raw(first, tag,
                           std::vector<std::uint64_t>(
                               trace::record_bytes(tag) / sizeof(std::uint64_t) - 2, each));
            }
            thread.raw(first,
                       trace::make_tag(trace::record_kind::scope, static_cast<std::uint32_t>(each),
                                       trace::tag_value_limit - 1));
        }
    check_lossless(built.bytes());
}

TEST_CASE("times of a clock that counts by 26 take about as much as those of a clock that counts "
          "by one") {
    const std::size_t by_one = packed(copied(stepping_trace(1, 0))).size();
    const std::size_t by_many = packed(copied(stepping_trace(26, 0))).size();
    CHECK(by_many < by_one + 100);
    const std::size_t nearly = packed(copied(stepping_trace(26, 13))).size();
    CHECK(nearly < by_one + 300);
}

TEST_CASE("times that are not on the steps of their clock are packed without loss") {
    check_lossless(stepping_trace(26, 0));
    check_lossless(stepping_trace(26, 13));
    check_lossless(stepping_trace(26, -1));
    check_lossless(stepping_trace(256, 1));
}

TEST_CASE("a trace with a task table and free chunks reads as it did before") {
    auto built = sample_trace();
    built.live_task({77, 1'000'010, 3, 16, trace::spawn_started});
    auto content = built.bytes();
    content.resize(content.size() + std::size_t{3} * trace_builder::small_chunk);
    check_lossless(content);
}

TEST_CASE("damage in a trace is the same damage after the trace is packed") {
    const auto content = sample_trace().bytes();
    constexpr std::size_t stride = 89;
    for (std::size_t at = sizeof(trace::file_header); at < content.size(); at += stride) {
        auto damaged = content;
        damaged[at] ^= static_cast<unsigned char>(1U << (at % 8));
        check_lossless(damaged);
        damaged.resize(at);
        check_lossless(damaged);
    }
}

TEST_CASE("packing a trace that begins no chunk keeps its header") {
    auto content = sample_trace().bytes();
    content.resize(trace::file_header_bytes);
    check_lossless(content);
    content.resize(sizeof(trace::file_header));
    check_lossless(content);
}

TEST_CASE("a file that is no trace, or is packed already, is not packed") {
    const auto fails = [](const bytes& content, const std::string& reason) {
        const auto done = trace::pack(copied(content), [](std::string_view) { return true; });
        REQUIRE_FALSE(done);
        CHECK(done.error().message.find(reason) != std::string::npos);
    };
    fails({}, "is empty");
    fails(bytes(8192, 'x'), "is not a Coroscope trace");
    fails(packed(sample_trace().finish()), "is packed already");
    const auto missing =
        trace::pack(std::string("/nonexistent/trace.cst"), [](std::string_view) { return true; });
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message == "cannot be opened: No such file or directory");
}

TEST_CASE("packing ends when its bytes cannot be written") {
    for (int most = 0; most < 4; ++most) {
        int written = 0;
        const auto done = trace::pack(sample_trace().finish(),
                                      [&](std::string_view) { return written++ < most; });
        REQUIRE_FALSE(done);
        CHECK(done.error().message == "could not be written");
        CHECK(written == most + 1);
    }
}

TEST_CASE("a damaged block loses its own chunks only, and a warning names it") {
    auto small = packed(long_trace().finish());
    const std::size_t second = behind(small, first_block(small));
    small[second + sizeof(trace::pack_block_header) + 5] ^= 4U;
    const auto damaged = copied(small);
    const auto reader = trace::reader::open(damaged);
    REQUIRE(reader);
    CHECK(reader->damaged_chunks() == 8);
    REQUIRE(reader->warnings().size() == 1);
    CHECK(reader->warnings()[0] == "the packed trace's block at byte " + std::to_string(second) +
                                       ": its checksum does not match; its 8 chunks are left out");
    const auto whole_bytes = long_trace().finish();
    const auto whole = trace::reader::open(whole_bytes);
    REQUIRE(whole);
    CHECK(reader->chunks().size() == whole->chunks().size() - 8);
}

TEST_CASE("a packed trace that is cut keeps the blocks before the cut") {
    const auto small = packed(long_trace().finish());
    const std::size_t second = behind(small, first_block(small));
    for (const std::size_t size : {second, second + 10, behind(small, second) - 1}) {
        const auto cut = copied(bytes(small.begin(), small.begin() + static_cast<long>(size)));
        const auto reader = trace::reader::open(cut);
        REQUIRE(reader);
        CHECK(reader->chunks().size() == 8);
        REQUIRE(reader->warnings().size() == 2);
        CHECK(reader->warnings()[0].find(std::to_string(size == second ? size : second)) !=
              std::string::npos);
        CHECK(reader->warnings()[1].find("chunks are missing") != std::string::npos);
    }
}

TEST_CASE("a packed trace takes memory for the bytes that it holds, not for those that it claims") {
    auto small = packed(sample_trace().finish());
    trace::pack_header header;
    std::memcpy(&header, small.data(), sizeof(header));
    const std::uint64_t held = header.trace_bytes;
    header.trace_bytes = std::uint64_t{1} << 60;
    header.checksum = XXH3_64bits_withSeed(small.data() + sizeof(header), header.header_bytes,
                                           header.trace_bytes);
    std::memcpy(small.data(), &header, sizeof(header));
    const auto buffer = copied(small);
    const auto reader = trace::reader::open(buffer);
    REQUIRE(reader);
    CHECK(reader->size() == held);
    REQUIRE(reader->warnings().size() == 1);
    CHECK(reader->warnings()[0].find("it holds " + std::to_string(held) + " of ") !=
          std::string::npos);
}

TEST_CASE("a packed header that is cut, damaged or newer is refused with that reason") {
    const auto small = packed(sample_trace().finish());
    refuse(bytes(small.begin(), small.begin() + 20), "ends inside the packed trace's header");
    refuse(bytes(small.begin(), small.begin() + 40), "ends inside the packed trace's header");
    const auto changed = [&small](std::size_t at, unsigned char to) {
        auto content = small;
        content[at] = to;
        return content;
    };
    refuse(changed(offsetof(trace::pack_header, version), trace::pack_version + 1), "version 3");
    refuse(changed(offsetof(trace::pack_header, version), 0), "version 0");
    refuse(changed(offsetof(trace::pack_header, trace_bytes) + 6, 1), "damaged");
    refuse(changed(sizeof(trace::pack_header) + 9, 0xee), "damaged");
}

TEST_CASE("a changed byte of a packed trace is always noticed") {
    const auto small = packed(sample_trace().finish());
    for (std::size_t at = sizeof(trace::pack_magic); at < small.size(); ++at) {
        auto content = small;
        content[at] ^= static_cast<unsigned char>(1U << (at % 8));
        const auto buffer = copied(content);
        const auto reader = trace::reader::open(buffer);
        if (reader) REQUIRE_FALSE(reader->warnings().empty());
    }
}

TEST_CASE("damaged columns under a right checksum give a warning or another trace") {
    const auto small = packed(sample_trace().finish());
    const std::size_t block = first_block(small);
    for (std::size_t at = block + sizeof(trace::pack_block_header); at < small.size(); ++at) {
        for (const unsigned bit : {0U, 3U, 7U}) {
            auto content = small;
            content[at] ^= static_cast<unsigned char>(1U << bit);
            seal(content, block);
            const auto buffer = copied(content);
            const auto reader = trace::reader::open(buffer);
            REQUIRE(reader);
            if (reader->damaged_chunks() != 0) CHECK_FALSE(reader->warnings().empty());
        }
    }
}
