// SPDX-License-Identifier: Apache-2.0
// Optional data of a session: notes of scopes, allocators' reports, modules.

#include <cstring>
#include <string>

#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

constexpr const char* two_inputs =
    "[[2, 3], []]\n[[3, 1], []]\n[\"float\", \"int\"]\n[\"\", \"7\"]";

std::string sequence(std::int64_t number, std::uint64_t thread) {
    const trace::sequence_body body{number, thread};
    return {reinterpret_cast<const char*>(&body), sizeof body};
}

std::string addresses(std::initializer_list<std::uint64_t> frames) {
    std::string bytes;
    for (const std::uint64_t frame : frames)
        bytes.append(reinterpret_cast<const char*>(&frame), sizeof frame);
    return bytes;
}

std::string text(const analysis::trace& loaded, std::uint32_t index) {
    return index == analysis::none ? "none" : loaded.strings[index];
}

const analysis::event_note& note(const analysis::trace& loaded, std::string_view name) {
    const auto at = static_cast<std::uint32_t>(&event(loaded, name) - loaded.events.data());
    const analysis::event_note* found = analysis::find_note(loaded, at);
    REQUIRE(found != nullptr);
    return *found;
}

}  // namespace

TEST_CASE("a note belongs to the scope that began at its time, for every kind of scope record") {
    trace_builder built;
    const auto plain = built.site("plain"), framed = built.site("framed"),
               bare = built.site("bare");
    built.on(1)
        .note(100, trace::note_kind::inputs, two_inputs)
        .note(150, trace::note_kind::sequence, sequence(4, 0))
        .scope(bare, 120, 130)
        .scope(plain, 100, 140)
        .long_scope(framed, 150, 200, trace::scope_in_frame);
    const auto loaded = load(built);
    CHECK(loaded.notes.size() == 2);
    CHECK(text(loaded, note(loaded, "plain").input_shapes) == "[[2, 3], []]");
    CHECK(text(loaded, note(loaded, "plain").input_strides) == "[[3, 1], []]");
    CHECK(text(loaded, note(loaded, "plain").input_types) == "[\"float\", \"int\"]");
    CHECK(text(loaded, note(loaded, "plain").concrete_inputs) == "[\"\", \"7\"]");
    CHECK(note(loaded, "framed").sequence_number == 4);
    CHECK(note(loaded, "framed").forward_thread == analysis::none);
    CHECK(note(loaded, "plain").sequence_number == -1);
    CHECK(loaded.health.warnings.empty());
    check_sound(loaded);
}

TEST_CASE("a range has the note of the thread on which it began, even if it ended on another") {
    trace_builder built;
    built.on(1).label(10, 1, "handed over").note(10, trace::note_kind::sequence, sequence(7, 2));
    built.on(2).long_scope(1, 10, 90, trace::scope_dynamic | trace::scope_explicit, 0, 1);
    const auto loaded = load(built);
    CHECK(note(loaded, "handed over").sequence_number == 7);
    CHECK(loaded.threads[note(loaded, "handed over").forward_thread].id == 2);
}

TEST_CASE(
    "notes of several kinds become one, and scopes that began in one tick each have their own") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner");
    built.on(1)
        .note(100, trace::note_kind::stack, addresses({1, 2}))
        .note(100, trace::note_kind::sequence, sequence(1, 0))
        .note(100, trace::note_kind::stack, addresses({3, 1, 2}))
        .note(100, trace::note_kind::sequence, sequence(2, 0))
        .scope(inner, 100, 110)
        .scope(outer, 100, 120);
    const auto loaded = load(built);
    CHECK(note(loaded, "inner").sequence_number == 2);
    CHECK(note(loaded, "outer").sequence_number == 1);
    CHECK(loaded.stacks[note(loaded, "inner").stack].count == 3);
    CHECK(loaded.stacks[note(loaded, "outer").stack].count == 2);
}

TEST_CASE("equal stacks are kept once") {
    trace_builder built;
    const auto site = built.site("work");
    built.on(1)
        .note(10, trace::note_kind::stack, addresses({0x10, 0x20}))
        .scope(site, 10, 20)
        .note(30, trace::note_kind::stack, addresses({0x10, 0x20}))
        .scope(site, 30, 40);
    const auto loaded = load(built);
    CHECK(loaded.notes.size() == 2);
    REQUIRE(loaded.stacks.size() == 1);
    CHECK(loaded.frames[loaded.stacks[0].first + 1] == 0x20);
}

TEST_CASE("malformed notes are left out and counted, and their scopes stay") {
    trace_builder built;
    const auto site = built.site("work");
    thread_writer writer = built.on(1);
    const std::string wrong_inputs[] = {"",
                                        "[]\n[]\n[]",
                                        "[]\n[]\n[]\n[]\n[]",
                                        "[1,\n[]\n[]\n[]",
                                        "[\"a\x01\"]\n[]\n[]\n[]",
                                        "[\"\\x\"]\n[]\n[]\n[]",
                                        "[01]\n[]\n[]\n[]",
                                        std::string(20, '[') + "\n[]\n[]\n[]",
                                        "[1e5]\n[]\n[]\n[]",
                                        "[]]\n[]\n[]\n[]"};
    for (const std::string& wrong : wrong_inputs) writer.note(10, trace::note_kind::inputs, wrong);
    writer.note(10, trace::note_kind::stack, "seven..")
        .note(10, trace::note_kind::stack, "")
        .note(10, trace::note_kind::sequence, sequence(-1, 0))
        .note(10, trace::note_kind::sequence, "short")
        .note(10, static_cast<trace::note_kind>(9), "unknown")
        .scope(site, 10, 20);
    const auto loaded = load(built);
    CHECK(loaded.notes.empty());
    CHECK(loaded.events.size() == 1);
    REQUIRE(loaded.health.warnings.size() == 1);
    CHECK(loaded.health.warnings[0] == "malformed notes of scopes, left out: 15");
}

TEST_CASE("reports of allocators are in order of time, with releases as negative bytes") {
    trace_builder built;
    built.on(1).memory(300, trace::memory_event::released, 0xa0, 64, 0, 128);
    built.on(2)
        .memory(100, trace::memory_event::allocated, 0xa0, 64, 64, 128)
        .memory(400, trace::memory_event::out_of_memory, 0, 1 << 20, 0, 128);
    const auto loaded = load(built);
    REQUIRE(loaded.memory.size() == 3);
    CHECK(loaded.memory[0].time_ns == 100);
    CHECK(loaded.memory[0].bytes == 64);
    CHECK(loaded.memory[0].address == 0xa0);
    CHECK(loaded.memory[0].total_allocated == 64);
    CHECK(loaded.memory[0].total_reserved == 128);
    CHECK(loaded.memory[1].bytes == -64);
    CHECK(loaded.threads[loaded.memory[1].thread].id == 1);
    CHECK(loaded.memory[2].out_of_memory);
    CHECK(loaded.memory[2].bytes == 1 << 20);
    CHECK(loaded.duration_ns >= 400);
}

TEST_CASE("a module that was described twice is one, and modules are sorted by address") {
    trace_builder built;
    built.module(0x7000, 0x500, "/lib/second.so", "\x01\xab")
        .module(0x1000, 0x200, "/bin/program")
        .module(0x7000, 0x500, "/lib/second.so", "\x01\xab");
    built.on(1);
    const auto loaded = load(built);
    REQUIRE(loaded.modules.size() == 2);
    CHECK(loaded.modules[0].path == "/bin/program");
    CHECK(loaded.modules[0].build_id.empty());
    CHECK(loaded.modules[1].build_id == "01ab");
    CHECK(loaded.modules[1].load_address == 0x7000);
    CHECK(loaded.modules[1].bytes == 0x500);
}
