// SPDX-License-Identifier: Apache-2.0

// Findings about tasks that wait for a device.

#include <coroscope/analysis/findings.hpp>

#include <doctest/doctest.h>

#include "../device_traces.hpp"
#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::us;

namespace {

constexpr std::uint32_t awaited_stream = 7;
constexpr std::uint32_t other_stream = 8;

/// Ten requests await a stream for 10 ms each. It runs a kernel in the last part of the wait, and
/// another stream runs one from the start of the wait on.
analysis::trace awaited_device(std::int64_t kernel_ns, std::int64_t other_ns = 0) {
    checked_service service;
    const auto infer = service.await_named("infer");
    const auto gemm = service.built.site("gemm");
    service.built.device_name(0, "a device");
    std::uint32_t number = 0;
    for (int request = 0; request < 10; ++request) {
        const std::uint64_t task = service.begin();
        service.now += us;
        service.built.on(1).device_wait(service.now, task, awaited_stream);
        service.now += us;
        const std::int64_t from = service.now;
        const std::int64_t to = from + 10 * ms;
        auto device = service.built.on(3);
        device.device(test::kernel(gemm, to - kernel_ns, to, ++number, awaited_stream));
        if (other_ns != 0)
            device.device(test::kernel(gemm, from, from + other_ns, ++number, other_stream));
        service.wait(infer, 10 * ms);
        service.end();
    }
    return service.trace();
}

/// Ten requests make a call into the device's runtime within the scope `infer`. The runtime calls
/// the driver for all of that time.
analysis::trace calling_device(std::int64_t call_ns) {
    checked_service service;
    const auto infer = service.built.site("infer", "model.cpp", 5);
    const auto call = service.built.site("cudaStreamSynchronize");
    const auto query = service.await_named("query");
    std::uint32_t number = 0;
    for (int request = 0; request < 10; ++request) {
        const std::uint64_t task = service.begin();
        const std::int64_t from = service.now + us;
        service.now = from + call_ns;
        auto thread = service.built.on(1);
        thread.device_call(from, service.now, ++number, call, 1, task);
        test::device_values driver{.what = trace::device_activity::driver_call,
                                   .start = from + 100,
                                   .end = service.now - 100,
                                   .site = call,
                                   .task = task,
                                   .os_thread_id = 1001,
                                   .correlation = ++number};
        thread.device(driver);
        thread.scope(infer, from - 100, service.now + 100);
        service.now += us;
        service.wait(query, ms);
        service.end();
    }
    return service.trace();
}

void check_victims(const analysis::finding& found, std::int64_t time_ns) {
    REQUIRE(found.victims.size() == 1);
    CHECK(found.victims.front().place.label == "GET /item");
    CHECK(found.victims.front().count == 10);
    CHECK(found.victims.front().time_ns == time_ns);
    CHECK(found.evidence.front().request != 0);
}

}  // namespace

TEST_SUITE("findings about devices") {
    TEST_CASE("a device that runs nothing while tasks await its stream is idle") {
        const analysis::trace from = awaited_device(ms);
        const analysis::findings found = analysis::check(from);
        const analysis::finding* const idle = finding_of(found, "device-idle");
        REQUIRE(idle != nullptr);
        CHECK(idle->cause.label == "infer");
        CHECK(idle->count == 10);
        CHECK(idle->cost_ns == 10 * 9 * ms);
        CHECK(idle->evidence.front().length_ns == 9 * ms);
        check_victims(*idle, 10 * 9 * ms);
        CHECK(finding_of(found, "device-wait-blocks") == nullptr);
    }

    TEST_CASE("a device that works for most of the wait is not idle") {
        const analysis::findings found = analysis::check(awaited_device(8 * ms));
        CHECK(finding_of(found, "device-idle") == nullptr);
        CHECK_FALSE(test::could_not_run(found, "device-idle"));
    }

    TEST_CASE("a device that runs the work of another stream during the wait is not idle") {
        const analysis::findings found = analysis::check(awaited_device(ms, 8 * ms));
        CHECK(finding_of(found, "device-idle") == nullptr);
        CHECK_FALSE(test::could_not_run(found, "device-idle"));
    }

    TEST_CASE("no device is called idle if records of its work may be missing") {
        for (const auto lose : {+[](analysis::trace_health& of) { of.lost_device_records = 1; },
                                +[](analysis::trace_health& of) { of.dropped_newest = 1; },
                                +[](analysis::trace_health& of) { of.damaged_chunks = 1; }}) {
            analysis::trace from = awaited_device(ms);
            lose(from.health);
            const analysis::findings found = analysis::check(from);
            CHECK(finding_of(found, "device-idle") == nullptr);
            CHECK(test::could_not_run(found, "device-idle"));
            CHECK_FALSE(test::could_not_run(found, "device-wait-blocks"));
            CHECK(finding_of(found, "recording-trouble") != nullptr);
        }
    }

    TEST_CASE("a call that waits for the device counts once, with the driver's call within it") {
        const analysis::trace from = calling_device(5 * ms);
        const analysis::findings found = analysis::check(from);
        const analysis::finding* const blocks = finding_of(found, "device-wait-blocks");
        REQUIRE(blocks != nullptr);
        CHECK(blocks->cause.label == "infer");
        CHECK(blocks->count == 10);
        CHECK(blocks->cost_ns == 10 * 5 * ms);
        check_victims(*blocks, 10 * 5 * ms);
        CHECK(from.tasks[blocks->evidence.front().task].id == 1);
        CHECK(finding_of(found, "device-idle") == nullptr);
    }

    TEST_CASE("a short call into the device's runtime is a launch") {
        const analysis::findings found = analysis::check(calling_device(50 * us));
        CHECK(finding_of(found, "device-wait-blocks") == nullptr);
        CHECK_FALSE(test::could_not_run(found, "device-wait-blocks"));
    }
}
