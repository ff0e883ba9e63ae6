// SPDX-License-Identifier: Apache-2.0
// On-CPU, blocked and preempted time in tables, listings and sentences.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "../loading.hpp"
#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/views.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using analysis::state_times;

namespace {

const analysis::function_event_avg& row(const std::vector<analysis::function_event_avg>& rows,
                                        std::string_view name) {
    const auto found = std::ranges::find(rows, name, &analysis::function_event_avg::name);
    REQUIRE(found != rows.end());
    return *found;
}

/// Task 1 runs a scope with a child on thread 1, and a second task runs on top of it from 300 to 400.
/// Task 17 holds a lock on thread 2.
trace_builder built_trace() {
    trace_builder built;
    built.lasts(1000);
    built.header.clock = trace::clock_source::tsc;
    const auto session = built.site("session"), outer = built.site("outer"),
               inner = built.site("inner"), flush = built.site("audit.flush");
    built.on(1)
        .spawn(0, 1, session, trace::spawn_started)
        .scope(inner, 100, 200)
        .scope(outer, 50, 800)
        .finish(900, 1);
    built.on(2).spawn(10, 17, session, trace::spawn_started).scope(flush, 20, 980).finish(990, 17);
    return built;
}

void add_switches(trace_builder& built) {
    built.kernel()
        .leaves(1, 150)
        .enters(1, 180)
        .leaves(1, 500)
        .blocked(600, 500,
                 {1, 202, 0, 0x7f10, 0, 2, static_cast<std::uint32_t>(trace::blocked_lock::mutex)})
        .enters(1, 700)
        .preempted(1, 850)
        .enters(1, 860)
        .leaves(2, 100);
}

analysis::trace loaded_trace() {
    trace_builder built = built_trace();
    add_switches(built);
    return load(built);
}

}  // namespace

TEST_CASE("the running time of scopes divides into states, with and without the scopes inside") {
    const analysis::trace loaded = loaded_trace();
    const auto rows = analysis::key_averages(loaded);
    CHECK(row(rows, "inner").states == state_times{70, 30, 0, 0});
    CHECK(row(rows, "inner").self_states == state_times{70, 30, 0, 0});
    CHECK(row(rows, "outer").states == state_times{520, 230, 0, 0});
    CHECK(row(rows, "outer").self_states == state_times{450, 200, 0, 0});
    CHECK(row(rows, "audit.flush").states == state_times{80, 880, 0, 0});
    for (const auto& each : rows) {
        CHECK(each.states.total_ns() == each.cpu_time_total_ns);
        CHECK(each.self_states.total_ns() == each.self_cpu_time_total_ns);
    }
}

TEST_CASE("grouped by thread, scopes have the states of that thread") {
    const auto rows = analysis::key_averages(loaded_trace(), analysis::average_key::thread);
    CHECK(row(rows, "outer").states == state_times{520, 230, 0, 0});
    CHECK(row(rows, "outer").self_states == state_times{450, 200, 0, 0});
}

TEST_CASE("a scope's self time leaves out the states of a task that ran on top of it") {
    trace_builder built;
    built.lasts(1000);
    const auto outer = built.site("outer");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .spawn(300, 2, 0, trace::spawn_started, 1)
        .finish(400, 2, 1)
        .scope(outer, 50, 800)
        .finish(900, 1);
    built.kernel().leaves(1, 310).enters(1, 390).leaves(1, 500).enters(1, 520);
    const auto rows = analysis::key_averages(load(built));
    CHECK(row(rows, "outer").self_states == state_times{630, 20, 0, 0});
    CHECK(row(rows, "outer").self_cpu_time_total_ns == 650);
}

TEST_CASE("the table has columns of states and a footer with their sum if the trace has states") {
    const analysis::trace loaded = loaded_trace();
    const auto text = analysis::table(analysis::table_of(loaded));
    REQUIRE(text.has_value());
    CHECK(text->find("Self blocked") != std::string::npos);
    CHECK(text->find("Preempted") == std::string::npos);  // of no scope
    CHECK(text->find("by each context switch") != std::string::npos);
    const auto csv = analysis::table_csv(analysis::table_of(loaded));
    CHECK(csv->find("on_cpu_ns,self_on_cpu_ns,blocked_ns,self_blocked_ns,preempted_ns,"
                    "self_preempted_ns,unknown_state_ns,self_unknown_state_ns") !=
          std::string::npos);
    const auto json = analysis::table_json(analysis::table_of(loaded), {.sort_by = "self_blocked"});
    REQUIRE(json.has_value());
    CHECK(json->find("\"thread_states\": \"switches\"") != std::string::npos);
    CHECK(json->find("\"self_blocked_ns\": 880") != std::string::npos);
    for (const char* part : {"on_cpu", "blocked", "preempted"})
        for (const char* of : {"", "self_"})
            CHECK(analysis::table_json(analysis::table_of(loaded),
                                       {.sort_by = std::string(of) + part})
                      .has_value());
}

TEST_CASE("unknown states are unknown in every form of the table, never zero") {
    trace_builder built = built_trace();
    add_switches(built);
    built.on(3).scope(built.site("unseen"), 0, 100);
    const analysis::trace loaded = load(built);
    const auto text = analysis::table(analysis::table_of(loaded));
    CHECK(text->find("unknown: ") != std::string::npos);
    const auto json = analysis::table_json(analysis::table_of(loaded));
    CHECK(json->find("\"on_cpu_ns\": null") != std::string::npos);
    CHECK(json->find("\"unknown_state_ns\": 100") != std::string::npos);
}

TEST_CASE("without facts no text mentions CPU states, and no form has a column of states") {
    const analysis::trace loaded = load(built_trace());
    const auto input = analysis::table_of(loaded);
    for (const auto& text :
         {*analysis::table(input), *analysis::table_csv(input),
          analysis::to_text(analysis::list_task_sites(loaded, analysis::task_statistics(loaded))),
          analysis::to_text(analysis::list_threads(loaded)), analysis::info_text(loaded),
          analysis::task_json(loaded, 0)}) {
        CHECK(text.find("CPU") == std::string::npos);
        CHECK(text.find("on_cpu") == std::string::npos);
        CHECK(text.find("locked") == std::string::npos);
        CHECK(text.find("States") == std::string::npos);
    }
}

TEST_CASE("a task's slices say what blocked them, and who held the lock") {
    const analysis::trace loaded = loaded_trace();
    const std::uint32_t task = index_of(loaded, 1);
    const std::string text = analysis::task_text(loaded, task, {});
    CHECK(text.find("900 ns = 660 ns on-CPU + 230 ns blocked + 10 ns preempted + ") !=
          std::string::npos);
    CHECK(text.find("200 ns in futex 0x7f10, held by thread thread 2 (2) in scope audit.flush "
                    "(task 17)") != std::string::npos);
    const std::string json = analysis::task_json(loaded, task);
    CHECK(json.find("\"on_cpu_ns\": 660") != std::string::npos);
    CHECK(json.find("\"blocked_in\": \"200 ns in futex") != std::string::npos);
}

TEST_CASE("tasks of one spawn site add up their states") {
    const analysis::trace loaded = loaded_trace();
    const auto sites = analysis::task_statistics(loaded);
    REQUIRE(sites.size() == 1);
    CHECK(sites[0].running_states == state_times{660 + 90, 230 + 890, 10, 0});
}

TEST_CASE("info has the source of states, the switches, and the processors") {
    trace_builder built = built_trace();
    add_switches(built);
    built.kernel().lost(995, 996, 5);
    built.header.processors = 4;
    built.header.quota_percent = 150;
    const analysis::trace loaded = load(built);
    const std::string text = analysis::info_text(loaded);
    CHECK(text.find("each context switch; 7 switches, 5 lost") != std::string::npos);
    CHECK(text.find("4; the container may use 1.5") != std::string::npos);
    const std::string json = analysis::info_json(loaded);
    CHECK(json.find("\"lost_switches\": 5") != std::string::npos);
    CHECK(json.find("\"quota_percent\": 150") != std::string::npos);
}

TEST_CASE("a source that was refused is named with its reason") {
    trace_builder built = built_trace();
    built.header.thread_states = static_cast<std::uint64_t>(trace::thread_state_source::refused);
    const std::string reason = "perf_event_paranoid is 4";
    std::copy(reason.begin(), reason.end(), built.header.thread_states_message);
    const analysis::trace loaded = load(built);
    CHECK(analysis::info_text(loaded).find("not recorded (perf_event_paranoid is 4)") !=
          std::string::npos);
}
