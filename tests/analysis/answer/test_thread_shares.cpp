// SPDX-License-Identifier: Apache-2.0

// Averages by thread: a scope of a task that changed threads has a part on each of them.

#include "../loading.hpp"

#include <coroscope/analysis/averages.hpp>

#include <map>
#include <string>
#include <utility>

namespace {

using namespace coroscope;
using namespace coroscope::test;
using analysis::average_key;
using analysis::function_event_avg;

/// Task 1 runs [100, 200] on thread 1, [300, 450] on thread 2 and [500, 530] on thread 1. Its scope "handle" lasts
/// as long; in it "parse" runs on thread 1 at first and "render" on thread 2.
trace_builder hopping_task() {
    trace_builder trace;
    const auto handle = trace.site("handle");
    const auto parse = trace.site("parse");
    const auto render = trace.site("render");
    const auto wait = trace.site("wait", "test.cpp", 9, trace::site_kind::await);
    constexpr std::uint32_t in_frame = trace::scope_in_frame | trace::scope_exact;
    trace.on(1)
        .spawn(50, 1, 0, trace::spawn_ready)
        .resume(100, 1)
        .scope(parse, 120, 150)
        .suspend(200, 1, wait);
    trace.on(2).resume(300, 1).scope(render, 310, 360).suspend(450, 1, wait);
    trace.on(1).resume(500, 1).long_scope(handle, 100, 530, in_frame, 1, 1).finish(530, 1);
    trace.lasts(1'000);
    return trace;
}

using by_row =
    std::map<std::pair<std::string, std::uint32_t>, std::pair<std::int64_t, std::int64_t>>;

/// Total and self time by name and thread (from 1).
by_row rows_of(const analysis::trace& loaded) {
    by_row rows;
    for (const function_event_avg& row : key_averages(loaded, average_key::thread))
        rows[{row.name, loaded.threads[row.group].id}] = {row.cpu_time_total_ns,
                                                          row.self_cpu_time_total_ns};
    return rows;
}

TEST_CASE("a scope that ran on two threads has a part of its running time on each") {
    const analysis::trace loaded = load(hopping_task());
    CHECK(rows_of(loaded) == by_row{{{"handle", 1}, {130, 100}},
                                    {{"handle", 2}, {150, 100}},
                                    {{"parse", 1}, {30, 30}},
                                    {{"render", 2}, {50, 50}}});
}

TEST_CASE("the times and calls of a name on all threads add up to those without threads") {
    const analysis::trace loaded = load(hopping_task());
    std::map<std::string, function_event_avg> sums;
    for (const function_event_avg& row : key_averages(loaded, average_key::thread)) {
        function_event_avg& sum = sums[row.name];
        sum.count += row.count;
        sum.cpu_time_total_ns += row.cpu_time_total_ns;
        sum.self_cpu_time_total_ns += row.self_cpu_time_total_ns;
        sum.suspended_ns += row.suspended_ns;
        sum.queued_ns += row.queued_ns;
        sum.waiting_ns += row.waiting_ns;
        sum.wall_ns += row.wall_ns;
    }
    for (const function_event_avg& row : key_averages(loaded)) {
        CAPTURE(row.name);
        const function_event_avg& sum = sums[row.name];
        CHECK(sum.count == row.count);
        CHECK(sum.cpu_time_total_ns == row.cpu_time_total_ns);
        CHECK(sum.self_cpu_time_total_ns == row.self_cpu_time_total_ns);
        CHECK(sum.suspended_ns == row.suspended_ns);
        CHECK(sum.queued_ns == row.queued_ns);
        CHECK(sum.waiting_ns == row.waiting_ns);
        CHECK(sum.wall_ns == row.wall_ns);
    }
}

}  // namespace
