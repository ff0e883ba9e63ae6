// SPDX-License-Identifier: Apache-2.0
// Damaged files, and records that no runtime writes: the loaded trace must add up, and must report
// the damage.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <string>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

// Records of every kind about few tasks. The times on a thread rise more often than not.
trace_builder random_trace(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&random](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    trace_builder built;
    if (seed % 2 != 0) built.thread(1).dropped_newest = 1;
    const auto site = built.site("work");
    std::int64_t now[4] = {};
    for (int record = 0; record < 120; ++record) {
        const std::uint32_t thread = 1 + below(3);
        std::int64_t& at = now[thread];
        at += below(9) == 0 ? -std::int64_t{below(30)} : std::int64_t{below(20)};
        const auto kind = static_cast<trace::record_kind>(1 + below(14));
        const std::uint64_t task = below(5), other = below(5);
        thread_writer writer = built.on(thread);
        const std::int64_t start = at - std::int64_t{below(40)};
        if (below(40) == 0) writer.next_chunk(at, task);
        if (kind == trace::record_kind::scope)
            writer.scope(site, start, at);
        else if (kind == trace::record_kind::long_scope)
            writer.long_scope(site, start, at, below(128), task, below(5));
        else if (kind == trace::record_kind::label)
            writer.label(at, site, "text");
        else if (kind == trace::record_kind::arguments)
            writer.arguments(start, site, "text");
        else
            writer.raw(trace_builder::base_ticks + static_cast<std::uint64_t>(at),
                       trace::make_tag(kind, below(2) * site, below(64)), {task, other});
    }
    return built;
}

}  // namespace

TEST_CASE("records in an impossible order never give negative times") {
    trace_builder built;
    const auto site = built.site("work");
    built.on(1)
        .finish(500, 1)
        .resume(400, 1)
        .cancel(300, 1)
        .finish_transfer(200, 2, 2)
        .transfer(100, 3, 3)
        .suspend(50, 3)
        .context(40, 3, 2)
        .scope(site, 900, 950)
        .scope(site, 100, 120)
        .spawn(10, 4, 0, trace::spawn_job, 4)
        .resume(20, 4, 4)
        .resume(30, 4)
        .long_scope(site, 5, 700, trace::scope_in_frame | trace::scope_exact, 3);
    check_sound(load(built));
}

TEST_CASE("the loader ends if jobs post each other in a circle") {
    trace_builder built;
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_job, 2)
        .spawn(10, 2, 0, trace::spawn_job, 1)
        .resume(20, 1)
        .resume(30, 2, 1)
        .resume(40, 1, 2)
        .resume(50, 3, 1);
    check_sound(load(built));
}

TEST_CASE(
    "the sample trace has its tasks, events, open scopes, notes, memory records and modules") {
    const auto loaded = load(sample_trace());
    CHECK(loaded.health.warnings.empty());
    CHECK(loaded.tasks.size() == 2);
    CHECK(loaded.events.size() == 8);
    CHECK(loaded.health.open_scopes == 2);
    CHECK(loaded.notes.size() == 1);
    CHECK(loaded.memory.size() == 1);
    CHECK(loaded.modules.size() == 1);
    check_sound(loaded);
}

TEST_CASE("a trace cut at any byte loads with a warning, or fails cleanly") {
    const auto bytes = sample_trace().bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto loaded = analysis::load(truncated(bytes, size));
        REQUIRE(loaded.has_value() == (size >= sizeof(trace::file_header)));
        if (!loaded) continue;
        REQUIRE_FALSE(loaded->health.warnings.empty());
        REQUIRE(events_are_sound(*loaded));
        REQUIRE(tasks_add_up(*loaded));
    }
}

TEST_CASE("a trace with any bit flipped is refused or sound, with a warning if a checksum covers "
          "the bit") {
    const auto bytes = sample_trace().bytes();
    const auto is_checked = [&bytes](std::size_t byte) {  // by the checksum of a sealed chunk
        if (byte < trace::file_header_bytes) return false;
        const std::size_t chunk =
            byte - (byte - trace::file_header_bytes) % trace_builder::small_chunk;
        trace::chunk_header header;
        std::memcpy(&header, bytes.data() + chunk, sizeof(header));
        const std::size_t first = chunk + sizeof(header);
        return byte >= first && byte < first + header.used_bytes;
    };
    for (const std::size_t bit : bits_to_flip(bytes)) {
        const auto loaded = analysis::load(flipped(bytes, bit));
        if (!loaded) {
            REQUIRE_FALSE(loaded.error().message.empty());
            continue;
        }
        if (is_checked(bit / 8)) {
            REQUIRE_FALSE(loaded->health.warnings.empty());
            REQUIRE(loaded->health.warnings[0].find("(byte ") != std::string::npos);
            REQUIRE(loaded->health.damaged_chunks == 1);
        }
        REQUIRE(events_are_sound(*loaded));
        REQUIRE(tasks_add_up(*loaded));
    }
}

TEST_CASE("a trace with any bit flipped in an open chunk, which no checksum guards, is sound") {
    auto built = sample_trace();
    built.leave_open();
    const auto bytes = built.bytes();
    for (const std::size_t bit : bits_to_flip(bytes, trace::file_header_bytes)) {
        const auto loaded = analysis::load(flipped(bytes, bit));
        REQUIRE(loaded);
        REQUIRE(events_are_sound(*loaded));
        REQUIRE(tasks_add_up(*loaded));
    }
}

TEST_CASE("random records in sealed chunks load with a sound tree and sound sums") {
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        const auto loaded = load(random_trace(seed));
        CAPTURE(seed);
        REQUIRE(events_are_sound(loaded));
        REQUIRE(tasks_add_up(loaded));
    }
}

TEST_CASE("a file that is no trace fails with its reason") {
    const auto missing = analysis::load(std::string("/nonexistent"));
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message.find("cannot be opened") == 0);
    const auto empty = analysis::load(trace::buffer());
    REQUIRE_FALSE(empty);
    CHECK(empty.error().message == "is empty");
}

TEST_CASE("a thread that has records and no description is counted as damage, once") {
    trace_builder built;
    built.on(1).spawn(100, 7).wake(250, 7, 0, 9).resume(300, 7).finish(600, 7);
    const auto work = built.site("work");
    built.on_unknown(9).scope(work, 10, 20).next_chunk(30).scope(work, 40, 50);
    const analysis::trace loaded = load(built);
    REQUIRE(loaded.health.warnings.size() == 1);
    CHECK(loaded.health.warnings[0] ==
          "threads that have records and the trace does not describe: 1");
    CHECK(loaded.threads.size() == 2);
}
