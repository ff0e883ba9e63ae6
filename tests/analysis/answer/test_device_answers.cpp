// SPDX-License-Identifier: Apache-2.0

// The device work of tasks: the work that a task asked for, the work that it waited for, and the
// part of its suspension that this work explains.

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/analysis/views.hpp>

#include <doctest/doctest.h>

#include <string>

#include "../../support/json.hpp"
#include "../loading.hpp"

namespace coroscope::test {
namespace {

using what = trace::device_activity;

/// A task that copies, runs three kernels on stream 7 and waits for them from 100 to 2000: the copy from 50 to 250,
/// kernels 300 to 1200 (queued from 260 on), 1200 to 1400 and 1400 to 1500; the wake comes at 1600.
trace_builder pipeline() {
    trace_builder made;
    made.lasts(3000);
    const auto spawned = made.site("serve", "serve.cpp", 3, trace::site_kind::coroutine);
    const auto await = made.site("gpu", "serve.cpp", 9, trace::site_kind::await);
    const auto other = made.site("timer", "serve.cpp", 11, trace::site_kind::await);
    const auto gemm = made.site("gemm_kernel"), relu = made.site("relu"), copy = made.site("copy");
    made.device_name(0, "a device");
    made.on(1)
        .spawn(0, 1, spawned, trace::spawn_started)
        .device_wait(95, 1)
        .suspend(100, 1, await)
        .resume(2000, 1)
        .suspend(2100, 1, other)
        .resume(2200, 1)
        .finish(2300, 1);
    made.on(2).wake(1600, 1, 0, 2);
    device_values kernel{.start = 300, .end = 1200, .site = gemm, .task = 1};
    kernel.queued = 260;
    made.on(2)
        .device({what::copy, 50, 250, copy, 1, 0, 0, 0, 1, 7, 4096})
        .device(kernel)
        .device({.start = 1200, .end = 1400, .site = relu, .task = 1})
        .device({.start = 1400, .end = 1500, .site = relu, .task = 1})
        .device({.start = 400, .end = 900, .site = relu, .stream = 8});
    return made;
}

TEST_CASE("the work of a stream, and its queue, cover an await of the stream") {
    const auto loaded = load(pipeline());
    const analysis::device_coverage coverage(loaded);
    const analysis::device_share share = coverage.of(task(loaded, 1).awaits[0]);
    CHECK(share.waits == 1);
    CHECK(share.covered_ns == 150 + 900 + 200 + 100);
    CHECK(share.queued_ns == 40);
    CHECK(share.start_ns == 50);
    CHECK(share.end_ns == 1500);
    CHECK(coverage.of(task(loaded, 1).awaits[1]).waits == 0);
    CHECK(coverage.of(analysis::none).waits == 0);
}

TEST_CASE(
    "overlapping work of a stream covers a moment once, and only while the task is suspended") {
    trace_builder made;
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(100, 1)
        .suspend(100, 1)
        .resume(400, 1);
    made.on(2)
        .device({.start = 50, .end = 150})
        .device({.start = 60, .end = 200})
        .device({.start = 120, .end = 130})
        .device({.start = 300, .end = 500});
    const auto loaded = load(made);
    const analysis::device_share share = analysis::device_coverage(loaded).of(0);
    CHECK(share.covered_ns == 100 + 100);
    CHECK_FALSE(share.queued_ns.has_value());
}

TEST_CASE(
    "a kernel behind another one of its stream counts as queued only after the other one's end") {
    trace_builder made;
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(100, 1)
        .suspend(100, 1)
        .resume(900, 1);
    device_values kernel{.start = 200, .end = 300};
    kernel.queued = 50;
    made.on(2).device(kernel);
    kernel.start = 350;
    kernel.end = 400;
    kernel.queued = 60;
    made.on(2).device(kernel);
    const auto loaded = load(made);
    const analysis::device_share share = analysis::device_coverage(loaded).of(0);
    CHECK(share.queued_ns == 100 + 50);
    CHECK(share.covered_ns == 150);
}

TEST_CASE("an await of an idle stream waited for nothing, and its row says so") {
    trace_builder made;
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(100, 1, 9)
        .suspend(100, 1)
        .resume(900, 1);
    const auto loaded = load(made);
    CHECK(analysis::device_coverage(loaded).of(0).covered_ns == 0);
    const auto list = analysis::list_task_awaits(loaded, 0);
    CHECK(analysis::to_csv(list).find("stream 9: nothing") != std::string::npos);
}

TEST_CASE("a task's story names the device work that it waited for and asked for") {
    const auto loaded = load(pipeline());
    const std::string text = analysis::task_text(loaded, 0);
    CHECK(text.find("On devices  3 kernels 1.2 us (longest gemm_kernel 900 ns), 1 copy 200 ns\n") !=
          std::string::npos);
    CHECK(text.find(
              "stream 7: 3 kernels 1.2 us (longest gemm_kernel 900 ns), 1 copy 200 ns, queued on "
              "the device 40 ns") != std::string::npos);
    const auto json = coroscope_tests::parse_json(analysis::task_json(loaded, 0));
    CHECK(json["devices"]["device_ns"].integer() == 1400);
    CHECK(json["devices"]["kernels"].integer() == 3);
    CHECK(json["devices"]["copies_ns"].integer() == 200);
    const auto& awaits = json["awaits"].elements;
    CHECK(awaits[0]["device_ns"].integer() == 1350);
    CHECK(awaits[0]["device_queued_ns"].integer() == 40);
    CHECK(awaits[0]["device_start_ns"].integer() == 50);
    CHECK(awaits[0]["device_end_ns"].integer() == 1500);
    CHECK(awaits[0]["waited_for"].text.starts_with("stream 7: 3 kernels"));
    CHECK(awaits[1]["device_ns"].is == coroscope_tests::json::kind::null);
    CHECK(awaits[1]["waited_for"].is == coroscope_tests::json::kind::null);
}

TEST_CASE("the awaits of a place have the part of their suspension that devices explain") {
    const auto loaded = load(pipeline());
    const auto list = analysis::list_await_sites(loaded, analysis::await_statistics(loaded));
    const auto rows = coroscope_tests::parse_json(analysis::to_json(list)).elements;
    REQUIRE(rows.size() == 2);
    CHECK(rows[0]["name"].text == "gpu");
    CHECK(rows[0]["suspended_ns"].integer() == 1500);
    CHECK(rows[0]["device_ns"].integer() == 1350);
    CHECK(rows[0]["device_queued_ns"].integer() == 40);
    CHECK(rows[0]["waited_for"].text == "stream 7: 3 kernels 1.2 us (longest gemm_kernel 900 ns), "
                                        "1 copy 200 ns, queued on the device "
                                        "40 ns");
    CHECK(rows[1]["device_ns"].is == coroscope_tests::json::kind::null);
    const auto chains = coroscope_tests::parse_json(
        analysis::to_json(analysis::list_await_chains(loaded, analysis::await_chains(loaded))));
    CHECK(chains.elements[0]["device_ns"].integer() == 1350);
}

TEST_CASE(
    "work that several tasks waited for counts once as work, and once in each task's device time") {
    trace_builder made;
    const auto await = made.site("gpu", "serve.cpp", 9, trace::site_kind::await);
    made.on(1).spawn(0, 1, 0, trace::spawn_started).device_wait(10, 1).suspend(10, 1, await);
    made.on(1).spawn(20, 2, 0, trace::spawn_started).device_wait(30, 2).suspend(30, 2, await);
    made.on(1).spawn(40, 3, 0, trace::spawn_started).device_wait(50, 3, 8).suspend(50, 3, await);
    made.on(2)
        .device({.start = 100, .end = 200, .site = made.site("gemm")})
        .device({what::set, 200, 230})
        .device({.start = 250, .end = 260, .stream = 8})
        .resume(300, 1)
        .finish(301, 1)
        .resume(310, 2)
        .finish(311, 2)
        .resume(320, 3)
        .finish(321, 3);
    const auto loaded = load(made);
    const auto sites = analysis::await_statistics(loaded);
    REQUIRE(sites.size() == 1);
    CHECK(sites[0].devices.kernels.count == 2);
    CHECK(sites[0].devices.sets.count == 1);
    CHECK(sites[0].devices.streams == std::vector<std::uint32_t>{7, 8});
    CHECK(sites[0].times.device_waits == 3);
    CHECK(sites[0].times.device_ns == 130 + 130 + 10);
    CHECK_FALSE(sites[0].times.device_queued_ns.has_value());
}

TEST_CASE("lists of tasks, by place and as a tree, have the device time that the tasks asked for") {
    const auto loaded = load(pipeline());
    const auto sites = analysis::task_statistics(loaded);
    CHECK(sites.at(0).device_ns == 1400);
    const std::string csv = analysis::to_csv(analysis::list_task_sites(loaded, sites));
    CHECK(csv.find(",place,device_ns\n") != std::string::npos);
    CHECK(analysis::to_csv(analysis::list_task_tree(loaded)).find(",1400\n") != std::string::npos);
}

TEST_CASE("a trace without devices has no columns for them") {
    trace_builder made;
    made.on(1).spawn(0, 1, 0, trace::spawn_started).suspend(100, 1).resume(900, 1);
    const auto loaded = load(made);
    for (const std::string& text :
         {analysis::to_csv(analysis::list_task_awaits(loaded, 0)),
          analysis::to_csv(analysis::list_await_sites(loaded, analysis::await_statistics(loaded))),
          analysis::to_csv(analysis::list_task_sites(loaded, analysis::task_statistics(loaded))),
          analysis::to_csv(analysis::list_task_tree(loaded))})
        CHECK(text.find("device") == std::string::npos);
    CHECK(coroscope_tests::parse_json(analysis::task_json(loaded, 0))["devices"].is ==
          coroscope_tests::json::kind::null);
}

TEST_CASE("a kernel with a hostile name is cut and made printable") {
    trace_builder made(65536);
    const std::string name = "a\x1b[31m\n" + std::string(4000, 'n');
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(100, 1)
        .suspend(100, 1)
        .resume(900, 1);
    made.on(2).device({.start = 200, .end = 300, .site = made.site(name)});
    const std::string text = analysis::task_text(load(made), 0);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find(std::string(60, 'n')) == std::string::npos);
    CHECK(text.find("1 kernel 100 ns (a") != std::string::npos);
}

}  // namespace
}  // namespace coroscope::test
