// SPDX-License-Identifier: Apache-2.0

// Device activities: the task, the call and the scope that asked for each, and the suspensions that
// they explain.

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>

#include "../device_traces.hpp"
#include "../loading.hpp"
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/views.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using what = trace::device_activity;

namespace {

std::string launched_by(const analysis::trace& loaded, std::string_view name) {
    const std::uint32_t event = activity(loaded, name).event;
    return event == analysis::none ? "" : loaded.strings[loaded.events[event].name];
}

}  // namespace

TEST_CASE("activities come in the order in which they began, however they were recorded") {
    trace_builder built;
    const auto one = built.site("one"), two = built.site("two"), set = built.site("set");
    built.device_name(3, "a device");
    built.on(1)
        .device({what::kernel, 300, 400, two, 0, 0, 2, 3})
        .device(
            {.what = what::set, .start = 100, .end = 120, .site = set, .device = 3, .bytes = 64})
        .device({.start = 100, .end = 200, .site = one, .device = 3, .queued = 90});
    const auto loaded = load(built);
    REQUIRE(loaded.device_activities.size() == 3);
    CHECK(loaded.strings[loaded.device_activities[0].name] == "one");
    CHECK(loaded.device_activities[0].queued_ns == 90);
    CHECK(loaded.device_activities[1].bytes == 64);
    CHECK(loaded.device_activities[1].what == what::set);
    CHECK_FALSE(loaded.device_activities[1].queued_ns.has_value());
    REQUIRE(loaded.devices.size() == 1);
    CHECK(loaded.devices[0].id == 3);
    CHECK(loaded.devices[0].name == "a device");
    CHECK(loaded.device_activities[2].device == 0);
    CHECK(loaded.health.warnings.empty());
}

TEST_CASE(
    "a kernel belongs to the call of its number, and to the task and the scope of that call") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner"),
               other = built.site("other");
    const auto gemm = built.site("gemm");
    built.on(1).spawn(0, 1, 0, trace::spawn_started).scope(inner, 100, 200).scope(outer, 50, 400);
    built.on(2).scope(other, 0, 900);
    built.on(3).device(kernel(gemm, 500, 600, 9)).device_call(110, 120, 9, 0, 1, 1);
    const auto loaded = load(built);
    const analysis::device_activity& found = activity(loaded, "gemm");
    REQUIRE(found.call != analysis::none);
    CHECK(loaded.device_activities[found.call].what == what::runtime_call);
    CHECK(loaded.threads[loaded.device_activities[found.call].thread].id == 1);
    CHECK(found.task == index_of(loaded, 1));
    CHECK(launched_by(loaded, "gemm") == "inner");
    CHECK(found.thread == analysis::none);
}

TEST_CASE(
    "an activity of a reused number belongs to the last call that began before it was asked for") {
    trace_builder built;
    const auto first = built.site("first"), second = built.site("second");
    const auto early = built.site("early"), late = built.site("late"),
               behind = built.site("behind");
    built.on(1).scope(first, 100, 200).scope(second, 300, 400);
    built.on(2)
        .device(kernel(late, 450, 460, 9))
        .device(kernel(early, 250, 260, 9))
        .device_call(310, 320, 9)
        .device_call(110, 120, 9)
        .device(kernel(behind, 105, 115, 11))
        .device_call(110, 120, 11);
    const auto loaded = load(built);
    CHECK(launched_by(loaded, "early") == "first");
    CHECK(launched_by(loaded, "late") == "second");
    CHECK(launched_by(loaded, "behind") == "first");
}

TEST_CASE(
    "allocations and synchronizations of a call are on its thread, and kernels are on no thread") {
    trace_builder built;
    const auto scope = built.site("scope"), memory = built.site("memory");
    const auto sync = built.site("sync"), gemm = built.site("gemm");
    built.on(1).scope(scope, 100, 200).device_call(110, 120, 1);
    built.on(2)
        .device({what::allocated, 115, 115, memory, 0, 0, 1})
        .device({what::synchronization, 112, 119, sync, 0, 0, 1})
        .device(kernel(gemm, 130, 140, 1));
    const auto loaded = load(built);
    CHECK(activity(loaded, "memory").thread == 0);
    CHECK(activity(loaded, "sync").thread == 0);
    CHECK(activity(loaded, "gemm").thread == analysis::none);
    CHECK(launched_by(loaded, "memory") == "scope");
}

TEST_CASE("calls and activities of number 0 are not tied together") {
    trace_builder built;
    const auto gemm = built.site("gemm");
    built.on(1)
        .scope(built.site("scope"), 0, 900)
        .device_call(10, 20, 0)
        .device(kernel(gemm, 30, 40, 0));
    const auto loaded = load(built);
    CHECK(activity(loaded, "gemm").call == analysis::none);
    CHECK(launched_by(loaded, "gemm").empty());
}

TEST_CASE(
    "a scope in the calling task's frame is the launcher, even if it began on another thread") {
    trace_builder built;
    const auto handle = built.site("handle"), on_stack = built.site("on the stack");
    const auto loop = built.site("loop"), hop = built.site("hop"), deep = built.site("deep");
    built.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1);
    built.on(2)
        .resume(200, 1)
        .scope(on_stack, 220, 240)
        .long_scope(handle, 50, 300, trace::scope_in_frame | trace::scope_exact, 1, 1)
        .suspend(310, 1)
        .scope(loop, 60, 400);
    built.on(3)
        .device(kernel(hop, 500, 510, 1))
        .device(kernel(deep, 520, 530, 2))
        .device_call(250, 252, 1, 0, 2, 1)
        .device_call(230, 232, 2, 0, 2, 1);
    const auto loaded = load(built);
    CHECK(launched_by(loaded, "hop") == "handle");
    CHECK(launched_by(loaded, "deep") == "on the stack");
}

TEST_CASE(
    "a call belongs to its scope even if its clock is off by nearly half of the call's length") {
    for (std::int64_t skew = -24; skew <= 24; skew += 4) {
        trace_builder built;
        const auto before = built.site("before"), own = built.site("own"),
                   behind = built.site("behind"), gemm = built.site("gemm");
        built.on(1).scope(before, 50, 150).scope(own, 150, 200).scope(behind, 200, 300);
        built.on(2).device(kernel(gemm, 500, 510, 1)).device_call(151 + skew, 199 + skew, 1);
        CAPTURE(skew);
        CHECK(launched_by(load(built), "gemm") == "own");
    }
}

TEST_CASE("a scope of the thread is the launcher if the calling task has no open scope") {
    trace_builder built;
    const auto loop = built.site("loop"), plain = built.site("plain");
    built.on(1).spawn(100, 1, 0, trace::spawn_started).suspend(200, 1).scope(loop, 50, 400);
    built.on(2).device(kernel(plain, 500, 510, 1)).device_call(150, 152, 1, 0, 1, 1);
    CHECK(launched_by(load(built), "plain") == "loop");
}

TEST_CASE("a range is not the launcher of a call inside it") {
    trace_builder built;
    const auto outer = built.site("outer"), gemm = built.site("gemm");
    built.on(1)
        .label(20, 1, "range")
        .long_scope(1, 20, 800, trace::scope_dynamic | trace::scope_explicit | trace::scope_range)
        .scope(outer, 10, 900);
    built.on(2).device(kernel(gemm, 500, 510, 1)).device_call(150, 152, 1);
    CHECK(launched_by(load(built), "gemm") == "outer");
}

TEST_CASE("a thread that only called a device is a thread of the trace") {
    trace_builder built;
    built.on(1).device_call(10, 20, 1, built.site("launch"), 77).device_call(30, 40, 2, 0, 77);
    const auto loaded = load(built);
    REQUIRE(loaded.threads.size() == 2);
    CHECK(loaded.threads[1].os_id == 1077);
    CHECK(loaded.threads[1].id == 2);
    CHECK(loaded.device_activities[0].thread == 1);
    CHECK(loaded.device_activities[1].thread == 1);
}

TEST_CASE("a device wait belongs to the next suspension, and covers the stream's work in it") {
    trace_builder built;
    const auto before = built.site("before"), one = built.site("one"), two = built.site("two");
    const auto elsewhere = built.site("elsewhere"), later = built.site("later");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(50, 1)
        .resume(60, 1)
        .device_wait(95, 1)
        .suspend(100, 1)
        .resume(400, 1)
        .suspend(500, 1)
        .finish(600, 1);
    built.on(2).wake(300, 1);
    built.on(3)
        .device(kernel(two, 200, 290, 2))
        .device(kernel(one, 90, 200, 1))
        .device(kernel(before, 10, 80, 3))
        .device(kernel(elsewhere, 150, 160, 4, 8))
        .device(kernel(later, 290, 299, 5))
        .device_call(5, 6, 1, 0, 1, 1)
        .device_call(7, 8, 2, 0, 1, 1)
        .device_call(150, 155, 5, 0, 2);
    const auto loaded = load(built);
    REQUIRE(loaded.device_waits.size() == 1);
    const analysis::device_wait& wait = loaded.device_waits[0];
    CHECK(wait.await == task(loaded, 1).awaits[1]);
    CHECK(awaited(loaded, wait) == std::vector<std::string>{"one", "two"});
    CHECK(analysis::find_device_waits(loaded, wait.await).size() == 1);
    CHECK(analysis::find_device_waits(loaded, task(loaded, 1).awaits[0]).empty());
    CHECK(analysis::find_device_waits(loaded, analysis::none).empty());
}

TEST_CASE("a long kernel that began before the others counts if it reaches into the suspension") {
    trace_builder built;
    const auto wide = built.site("wide"), over = built.site("over");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(95, 1)
        .suspend(100, 1)
        .resume(400, 1);
    built.on(2).device(kernel(wide, 10, 150, 1)).device(kernel(over, 20, 30, 2));
    const auto loaded = load(built);
    const auto names = awaited(loaded, loaded.device_waits.at(0));
    CHECK(std::count(names.begin(), names.end(), "wide") == 1);
}

TEST_CASE("a suspension may wait for several streams, and waits for each of them once") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(90, 1, 7)
        .device_wait(91, 1, 7)
        .device_wait(92, 1, 8)
        .device_wait(93, 1, 7, 2)
        .suspend(100, 1)
        .device_wait(200, 1)
        .device_wait(200, 99);
    const auto loaded = load(built);
    CHECK(analysis::find_device_waits(loaded, task(loaded, 1).awaits[0]).size() == 3);
    REQUIRE(loaded.device_waits.size() == 5);
    CHECK(loaded.device_waits[3].await == analysis::none);
    CHECK(loaded.device_waits[4].task == analysis::none);
}

TEST_CASE("the health of a trace has the header's state, message and lost records of devices") {
    trace_builder built;
    built.header.devices = 2;
    built.header.lost_device_records = 12;
    std::strcpy(built.header.device_message, "no driver");
    const auto loaded = load(built);
    CHECK(loaded.health.devices == trace::device_recording::not_recorded);
    CHECK(loaded.health.device_message == "no driver");
    CHECK(loaded.health.lost_device_records == 12);
    built.header.devices = 77;
    std::memset(built.header.device_message, 'x', sizeof(built.header.device_message));
    CHECK(load(built).health.devices == trace::device_recording::not_asked);
    CHECK(load(built).health.device_message.size() == sizeof(built.header.device_message));
}

TEST_CASE("records of devices that are malformed are left out and counted") {
    trace_builder built;
    built.on(1)
        .device({.what = what{}, .start = 1, .end = 2})
        .device({.what = static_cast<what>(11), .start = 1, .end = 2})
        .raw(trace_builder::base_ticks, trace::make_tag(trace::record_kind::device, 0, 16), {1, 2})
        .device({.start = 50, .end = 40, .device = 4});
    const auto loaded = load(built);
    REQUIRE(loaded.device_activities.size() == 1);
    CHECK(loaded.device_activities[0].end_ns == 50);
    CHECK(loaded.devices[0].name == "device 4");
    std::string all;
    for (const std::string& warning : loaded.health.warnings) all += warning + '\n';
    CHECK(all.find("malformed records of devices, left out: 3") != std::string::npos);
    CHECK(all.find("end before they begin, taken as moments: 1") != std::string::npos);
    CHECK(all.find("devices that records name and the trace does not describe: 1") !=
          std::string::npos);
    CHECK(devices_are_sound(loaded));
}

TEST_CASE("random records of devices load with sound devices, events and sums") {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&random](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        trace_builder built;
        const auto site = built.site("work");
        for (int record = 0; record < 60; ++record) {
            thread_writer writer = built.on(1 + below(2));
            const std::int64_t at = below(1000), end = at + std::int64_t{below(200)} - 20;
            const std::uint64_t task = below(4);
            switch (below(9)) {
                case 0: writer.device_wait(at, task, below(3), below(2)); break;
                case 6: writer.event_wait(at, task, below(6), below(3), below(2)); break;
                case 7:
                    writer.label(at, below(3), "range").range_wait(end, below(3), below(3));
                    break;
                case 8: writer.dependency(at, below(3), below(6), below(3), below(6)); break;
                case 1: writer.suspend(at, task); break;
                case 2: writer.resume(at, task); break;
                case 3:
                    writer.long_scope(site, at, std::max(at, end), below(128), task, below(4));
                    break;
                default:
                    writer.device({static_cast<what>(below(12)), at, end, below(2) * site, task,
                                   below(2) * (1000 + below(4)), below(6), below(3), below(2),
                                   below(3), random(), std::int64_t{below(1000)} - 1, 0});
            }
        }
        const auto loaded = load(built);
        CAPTURE(seed);
        REQUIRE(devices_are_sound(loaded));
        REQUIRE(shares_are_sound(loaded));
        REQUIRE(events_are_sound(loaded));
        REQUIRE(tasks_add_up(loaded));
        REQUIRE(analysis::export_chrome(loaded, [](std::string_view) { return true; }));
        REQUIRE_FALSE(analysis::summary(loaded).empty());
        for (std::uint32_t at = 0; at < loaded.tasks.size(); ++at)
            REQUIRE_FALSE(analysis::task_json(loaded, at).empty());
        REQUIRE(analysis::table(analysis::table_of(analysis::events_of(loaded))));
    }
}

TEST_CASE("the sample trace's wait covers its kernel, and devices are sound with any bit flipped") {
    const auto loaded = load(sample_trace());
    REQUIRE(loaded.device_waits.size() == 1);
    CHECK(awaited(loaded, loaded.device_waits[0]).size() == 1);
    auto open = sample_trace();
    open.leave_open();
    const auto bytes = open.bytes();
    for (const std::size_t bit : bits_to_flip(bytes, trace::file_header_bytes)) {
        const auto damaged = analysis::load(flipped(bytes, bit));
        REQUIRE(damaged);
        REQUIRE(devices_are_sound(*damaged));
    }
}
