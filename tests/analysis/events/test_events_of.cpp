// SPDX-License-Identifier: Apache-2.0

// A native trace as torch's events.

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/load_events.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/trace/pack.hpp>

#include <doctest/doctest.h>
#include <string>
#include <string_view>

#include "../event_lists.hpp"
#include "../loading.hpp"

namespace coroscope::test {
namespace {

TEST_CASE(
    "scopes of a native trace nest by torch's rule, with their names, threads and categories") {
    trace_builder made;
    const auto outer = made.site("outer", "x.cpp", 1, trace::site_kind::scope, "f", "http");
    const auto inner = made.site("inner");
    made.on(1).scope(inner, 20, 50).scope(outer, 10, 110);
    made.on(2).scope(inner, 15, 25);
    const analysis::event_list events = analysis::events_of(load(made));
    REQUIRE(events.size() == 3);
    CHECK(find(events, "outer").self_cpu_time_total_ns() == 70);
    CHECK(find(events, "outer").category() == "http");
    CHECK(find(events, "outer").activity_type() == analysis::activity::cpu_op);
    const auto rows = analysis::key_averages(events);
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].name == "inner");
    CHECK(rows[1].count == 2);
    CHECK(rows[1].cpu_time_total_ns == 40);
    CHECK(analysis::self_cpu_time_total_ns(events) == 110);
}

TEST_CASE(
    "a suspended scope has a total, no self time, and its running, suspended and queued parts") {
    trace_builder made;
    const auto site = made.site("handle");
    const auto child = made.site("child");
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .scope(child, 60, 70)
        .suspend(100, 1)
        .wake(150, 1)
        .resume(200, 1)
        .long_scope(site, 50, 250, trace::scope_in_frame | trace::scope_exact, 1)
        .finish(260, 1);
    const analysis::event_list events = analysis::events_of(load(made));
    const analysis::function_event handle = find(events, "handle");
    CHECK(handle.is_async());
    CHECK(handle.cpu_time_total_ns() == 200);
    CHECK(handle.self_cpu_time_total_ns() == 0);
    CHECK(handle.split().suspended_ns == 50);
    CHECK(parent_of(events, "child").empty());
    const auto rows = analysis::key_averages(events);
    CHECK(rows[0].suspended_ns == 50);
    CHECK(rows[0].queued_ns == 50);
    CHECK(rows[0].cpu_time_total_ns == 200);
    CHECK(rows[0].wall_ns == 200);
}

TEST_CASE("a scope whose suspension is unknown has unknown times in torch's averages, too") {
    trace_builder made;
    const auto foreign = made.site("foreign");
    made.on(1)
        .long_scope(foreign, 50, 250, trace::scope_in_frame)
        .scope(foreign, 300, 340)
        .long_scope(made.site("alone"), 400, 450, trace::scope_in_frame);
    const analysis::event_list events = analysis::events_of(load(made));
    CHECK(find(events, "alone").cpu_time_total_ns() == 50);
    const auto rows = analysis::key_averages(events);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].unknown_count == 1);
    CHECK(rows[0].cpu_time_total_ns == 40);
    CHECK(rows[0].waiting_ns == 200);
    CHECK(rows[1].unknown_count == rows[1].count);
    CHECK(analysis::total_average(events).unknown_count == 2);
    analysis::table_input input;
    input.rows = rows;
    const auto text = analysis::table(input);
    REQUIRE(text.has_value());
    CHECK(text->find("     alone       unknown       unknown       unknown       unknown") !=
          std::string::npos);
    CHECK(text->find("0.040us+") != std::string::npos);
    CHECK(text->find("Unknown: 2 calls") != std::string::npos);
}

TEST_CASE("a scope with a run-time label is a user annotation") {
    trace_builder made;
    made.on(1).label(1, 1, "request 7").long_scope(1, 10, 30, trace::scope_dynamic);
    const analysis::event_list events = analysis::events_of(load(made));
    CHECK(find(events, "request 7").is_user_annotation());
    CHECK(find(events, "request 7").scope() == analysis::record_scope::user_scope);
}

TEST_CASE("load_events loads a whole native trace, and refuses a truncated one") {
    trace_builder made;
    const auto outer = made.site("outer");
    made.on(1).scope(made.site("inner"), 20, 50).scope(outer, 10, 110);
    const auto events = analysis::load_events(made.finish());
    REQUIRE(events.has_value());
    CHECK(events->is_built);
    CHECK(find(*events, "outer").self_cpu_time_total_ns() == 70);
    CHECK_FALSE(analysis::load_events(truncated(made.bytes(), 100)).has_value());
}

TEST_CASE("a packed trace is loaded as the events of the trace that was packed") {
    trace_builder made;
    const auto outer = made.site("outer");
    made.on(1).scope(made.site("inner"), 20, 50).scope(outer, 10, 110);
    std::string bytes;
    const auto append = [&bytes](std::string_view part) {
        bytes.append(part);
        return true;
    };
    REQUIRE(trace::pack(made.finish(), append).has_value());
    const auto packed = trace::buffer::copy(bytes.data(), bytes.size());
    const auto events = analysis::load_events(packed);
    REQUIRE(events.has_value());
    CHECK(events->size() == 2);
    CHECK(find(*events, "outer").self_cpu_time_total_ns() == 70);
    const auto loaded = analysis::load(packed);
    REQUIRE(loaded.has_value());
    CHECK(loaded->packed_bytes == bytes.size());
    CHECK(loaded->file_bytes == made.bytes().size());
}

TEST_CASE("an empty trace gives an empty list") {
    CHECK(analysis::events_of(analysis::trace{}).empty());
}

}  // namespace
}  // namespace coroscope::test
