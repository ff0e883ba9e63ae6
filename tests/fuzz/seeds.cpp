// SPDX-License-Identifier: Apache-2.0

// The first inputs of the fuzzers: one well-formed input for each part of a format.
//
//     fuzz_seeds FOLDER      writes FOLDER/native, FOLDER/packed, FOLDER/events, FOLDER/nvprof, FOLDER/nsight

#include <filesystem>
#include <string>
#include <string_view>

#include <coroscope/trace/pack.hpp>

#include "facts_trace.hpp"
#include "seeds.hpp"
#include "trace_builder.hpp"

namespace {

using namespace coroscope;
using coroscope_fuzz::seed_folder;
using test::trace_builder;

void add(const seed_folder& to, std::string_view name, const trace_builder& built) {
    const auto bytes = built.bytes();
    to.add(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

trace_builder scopes() {
    trace_builder trace;
    const auto outer = trace.site("outer");
    const auto inner = trace.site("inner", "a.cpp", 2);
    trace.on(1).scope(inner, 10, 20).scope(inner, 30, 40).scope(outer, 5, 50);
    trace.on(2).long_scope(inner, 1, 90, trace::scope_in_frame | trace::scope_exact, 7);
    return std::move(trace.lasts(1000));
}

trace_builder tasks() {
    trace_builder trace;
    const auto spawned = trace.site("work", "b.cpp", 3, trace::site_kind::coroutine);
    const auto awaited = trace.site("wait", "b.cpp", 4, trace::site_kind::await);
    trace.on(1)
        .spawn(10, 1, spawned, trace::spawn_started)
        .spawn(12, 2, spawned, trace::spawn_ready, 1)
        .awaiting(13, 1, 2)
        .suspend(14, 1, awaited)
        .resume(15, 2)
        .finish(30, 2);
    trace.on(2).wake(31, 1, 2, 1).resume(40, 1).suspend(44, 1, awaited).cancel(45, 1).finish(60, 1);
    trace.on(3).adopt(9, spawned).transfer(70, 9, 10, awaited).finish_transfer(80, 10, 9);
    return std::move(trace.lasts(1000));
}

trace_builder awaits() {
    trace_builder trace;
    const auto awaited = trace.site("wait", "b.cpp", 4, trace::site_kind::await);
    trace.object(3, trace::object_kind::timer).object(4, trace::object_kind::other, "a gate");
    trace.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .plain_suspend(14, 1, awaited)
        .plain_resume(20, 1)
        .outcome(21, 1, trace::await_outcome::exception)
        .suspend(22, 1, awaited, 0, 3)
        .resume(30, 1, 0, trace::make_outcome(trace::await_outcome::cancelled))
        .suspend(32, 1, awaited, 0, 4)
        .mark(40, trace::mark_kind::end_of_service)
        .finish(50, 1, 0, trace::finish_destroyed | trace::finish_with_service);
    trace.on(2).plain_suspend(60, 9, awaited).plain_resume(70, trace::task_id_limit - 1);
    return std::move(trace.lasts(1000));
}

trace_builder texts() {
    trace_builder trace;
    const auto named = trace.site("named");
    trace.on(1)
        .label(5, 1, "label of run time")
        .item(6, 1, 0)
        .item(8, 1, 1)
        .long_scope(1, 5, 50, trace::scope_dynamic | trace::scope_explicit | trace::scope_range)
        .arguments(10, named, "a=1, b=two")
        .note(10, trace::note_kind::inputs, "[[2, 3]]\n[[3, 1]]\n[\"float\"]\n[]")
        .note(10, trace::note_kind::stack, std::string_view("\x10\0\0\0\0\0\0\0", 8))
        .note(10, trace::note_kind::sequence,
              std::string_view("\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16))
        .scope(named, 10, 20)
        .memory(12, trace::memory_event::allocated, 4096, 64, 64, 128)
        .memory(15, trace::memory_event::released, 4096, 64, 0, 128);
    trace.module(0, 4096, "/bin/true", "abcdef");
    return std::move(trace.lasts(1000));
}

trace_builder devices() {
    trace_builder trace;
    const auto kernel = trace.site("kernel", "", 0, trace::site_kind::operation);
    trace.header.devices = 1;
    trace.device_name(0, "a device");
    trace.on(1)
        .device_call(10, 20, 5, kernel, 1, 3)
        .device({.start = 25, .end = 60, .site = kernel, .task = 3, .correlation = 5})
        .device_wait(22, 3)
        .suspend(23, 3)
        .resume(70, 3);
    return std::move(trace.lasts(1000));
}

// Facts of each kind about threads, a later kind, and a chunk of its own.
trace_builder states() {
    trace_builder trace = tasks();
    trace.header.thread_states = static_cast<std::uint64_t>(trace::thread_state_source::switches);
    trace.kernel()
        .created(2, 5)
        .enters(2, 8)
        .times(1, 10, 100, 0)
        .leaves(1, 20)
        .blocked(30, 20, {1, 202, 0, 0x7f10, 0, 2, 1})
        .enters(1, 40)
        .preempted(1, 45)
        .enters(1, 47)
        .times(1, 50, 120, 9)
        .lost(55, 60, 4);
    const std::uint64_t body[3]{1, 2, 3};
    trace.kernel().fact(62, 15, body, sizeof body);
    trace.kernel().next_chunk(70).leaves(1, 75);
    trace.on(1).resource_wait(62, 68, {.waiter = 1, .holder = 2, .released = 66});
    return std::move(trace.lasts(1000));
}

trace_builder killed() {
    trace_builder trace = tasks();
    trace.leave_open();
    trace.live_task({.task = 3, .spawn_ticks = 5, .parent = 1, .site = 1, .flags = 0});
    return trace;
}

std::string packed_bytes(const trace_builder& built) {
    std::string bytes;
    const auto packed = trace::pack(built.finish(), [&bytes](std::string_view part) {
        bytes.append(part);
        return true;
    });
    return packed ? bytes : std::string();
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    const std::filesystem::path folder = words[1];
    const seed_folder native(folder / "native");
    add(native, "scopes", scopes());
    add(native, "tasks", tasks());
    add(native, "awaits", awaits());
    add(native, "texts", texts());
    add(native, "devices", devices());
    add(native, "states", states());
    add(native, "facts", test::facts_trace());
    add(native, "killed", killed());
    const seed_folder packed(folder / "packed");
    add(packed, "whole", texts());
    packed.add("scopes", packed_bytes(scopes()));
    packed.add("tasks", packed_bytes(tasks()));
    packed.add("awaits", packed_bytes(awaits()));
    packed.add("texts", packed_bytes(texts()));
    packed.add("devices", packed_bytes(devices()));
    packed.add("states", packed_bytes(states()));
    packed.add("facts", packed_bytes(test::facts_trace()));
    packed.add("killed", packed_bytes(killed()));
    coroscope_fuzz::add_event_seeds(seed_folder(folder / "events"));
    coroscope_fuzz::add_nvprof_seeds(seed_folder(folder / "nvprof"));
    coroscope_fuzz::add_nsight_seeds(seed_folder(folder / "nsight"));
}
