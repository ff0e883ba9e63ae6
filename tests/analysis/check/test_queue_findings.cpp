// SPDX-License-Identifier: Apache-2.0

// Findings about work that keeps the thread of an executor.

#include <string>

#include <coroscope/analysis/findings.hpp>
#include <coroscope/analysis/findings_views.hpp>

#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::finding_of;
using test::ms;
using test::us;

namespace {

constexpr std::uint32_t sleeping_call = 35;  // on x86-64

enum class keeps { blocked, computing, without_processor, without_facts, without_record };

// Each request is ready 0.1 ms after its suspension, and runs when a task has left the only thread
// of the loop after 5 ms.
analysis::trace queued_behind(keeps how) {
    checked_service service;
    test::trace_builder& built = service.built;
    const auto flush = built.site("flush", "audit.cpp", 9);
    const auto audit = built.site("audit", "audit.cpp", 8, trace::site_kind::coroutine);
    built.executor(1, trace::executor_kind::io_context, "loop");
    auto kernel = built.kernel();
    kernel.enters(how == keeps::without_facts ? 2 : 1, 0);
    for (std::uint64_t number = 1; number <= 20; ++number) {
        const std::uint64_t request = service.begin();
        const std::int64_t begin = service.now;
        built.on(1).suspend(begin + 10 * us, request);
        const bool is_recorded = how != keeps::without_record;
        if (is_recorded)
            built.on(1).spawn(begin + 20 * us, 1000 + number, audit, trace::spawn_started);
        built.on(2).wake(begin + 100 * us, request, 0, 2, 1);
        if (how == keeps::blocked) kernel.leaves(1, begin + 30 * us);
        if (how == keeps::without_processor) kernel.preempted(1, begin + 30 * us);
        if (how == keeps::blocked || how == keeps::without_processor)
            kernel.enters(1, begin + 5 * ms - 10 * us);
        if (is_recorded) {
            built.on(1).long_scope(flush, begin + 20 * us, begin + 5 * ms, 0, 1000 + number);
            built.on(1).finish(begin + 5 * ms, 1000 + number);
        }
        built.on(1).resume(begin + 5 * ms, request, 0, 0, 1);
        service.now = begin + 5 * ms + 50 * us;
        service.end();
    }
    kernel.leaves(how == keeps::without_facts ? 2 : 1, service.now);
    return service.trace();
}

}  // namespace

TEST_CASE("work that blocks the only thread of a loop is named with those that waited behind it") {
    const analysis::trace from = queued_behind(keeps::blocked);
    const analysis::findings found = analysis::check(from);
    REQUIRE(found.found.size() == 1);
    const analysis::finding& only = found.found.front();
    CHECK(only.rule->id == "blocking-call");
    CHECK(only.severity == analysis::finding_severity::error);
    CHECK(only.cause.label == "flush");
    CHECK(only.count == 20);
    REQUIRE(only.victims.size() == 1);
    CHECK(only.victims.front().place.label == "GET /item");
    CHECK(only.victims.front().count == 20);
    CHECK(only.cost_ns > 20 * 4 * ms);
    CHECK(only.title.find("the only thread of loop") != std::string::npos);
}

TEST_CASE("work that computes on the only thread of a loop is not a blocking call") {
    const analysis::findings found = analysis::check(queued_behind(keeps::computing));
    REQUIRE(found.found.size() == 1);
    CHECK(found.found.front().rule->id == "long-computation");
    CHECK(found.found.front().cause.label == "flush");
}

TEST_CASE("work that has no processor is no cause: the machine is busy") {
    const analysis::findings found = analysis::check(queued_behind(keeps::without_processor));
    CHECK(found.found.empty());
    CHECK(found.machine_ns > 20 * 4 * ms);
    CHECK(found.idle_ns == 0);
}

TEST_CASE("work that is not recorded is no cause, and does not show that the machine is busy") {
    const analysis::trace from = queued_behind(keeps::without_record);
    const analysis::findings found = analysis::check(from);
    CHECK(found.found.empty());
    CHECK(found.machine_ns == 0);
    CHECK(found.idle_ns > 20 * 4 * ms);
    const std::string text = analysis::findings_text(from, found);
    CHECK(text.find("no recorded task ran on the threads they were queued for") !=
          std::string::npos);
    CHECK(text.find("no processor") == std::string::npos);
}

TEST_CASE("work on a thread whose states are missing is no cause: it may have had no processor") {
    analysis::trace from = queued_behind(keeps::without_facts);
    SUBCASE("in a complete trace") {}
    SUBCASE("in a trace of a program that was killed") { from.health.finished = false; }
    SUBCASE("in a trace that lost records") { from.health.dropped_newest = 1; }
    const analysis::findings found = analysis::check(from);
    CHECK(finding_of(found, "long-computation") == nullptr);
    CHECK(finding_of(found, "blocking-call") == nullptr);
    CHECK(finding_of(found, "executor-too-small") == nullptr);
}

TEST_CASE("work on a thread whose states are known is a cause in an incomplete trace, too") {
    analysis::trace from = queued_behind(keeps::blocked);
    from.health.finished = false;
    test::look_at_runs(from, sleeping_call);
    CHECK(finding_of(analysis::check(from), "blocking-call") != nullptr);
}

TEST_CASE("blocked work is no cause if the holder of its lock may be lost") {
    analysis::trace from = queued_behind(keeps::blocked);
    from.health.dropped_newest = 1;
    CHECK(finding_of(analysis::check(from), "blocking-call") == nullptr);
    test::look_at_runs(from, sleeping_call);
    CHECK(finding_of(analysis::check(from), "blocking-call") != nullptr);
}

TEST_CASE("work on a thread whose states no session could record is a cause") {
    analysis::trace from = queued_behind(keeps::without_facts);
    from.states = {};
    from.states.source = trace::thread_state_source::refused;
    from.health.finished = false;
    CHECK(finding_of(analysis::check(from), "long-computation") != nullptr);
}
