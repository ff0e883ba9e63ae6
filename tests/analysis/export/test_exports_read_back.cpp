// SPDX-License-Identifier: Apache-2.0

// A Chrome export of a native trace, read back, gives the averages of the native trace.

#include "../chrome_export.hpp"
#include "../loading.hpp"
#include "../reading.hpp"
#include "../small_traces.hpp"
#include "../state_traces.hpp"

#include <coroscope/analysis/averages.hpp>

#include <map>
#include <string>
#include <utility>

namespace {

using namespace coroscope;
using namespace coroscope::test;
using analysis::function_event_avg;
using coroscope_tests::exported;
using coroscope_tests::read_events;

struct figures {
    std::uint64_t count;
    std::int64_t total_ns;
    std::int64_t self_ns;
    std::int64_t suspended_ns;
    std::int64_t queued_ns;
    std::int64_t waiting_ns;
    std::int64_t wall_ns;
    std::uint64_t unknown;
    bool operator==(const figures&) const = default;
};

using table = std::map<std::pair<std::string, std::string>, figures>;

table table_of(const std::vector<function_event_avg>& rows) {
    table figures_of;
    for (const function_event_avg& row : rows)
        figures_of[{row.name, row.category}] = {
            row.count,        row.cpu_time_total_ns, row.self_cpu_time_total_ns,
            row.suspended_ns, row.queued_ns,         row.waiting_ns,
            row.wall_ns,      row.unknown_count};
    return figures_of;
}

void check_read_back(const analysis::trace& native) {
    const auto read = read_events(exported(native));
    REQUIRE(read.has_value());
    const auto rows = analysis::key_averages(*read, {.select = analysis::event_selection::cpu});
    const table expected = table_of(analysis::key_averages(native));
    const table found = table_of(rows);
    CHECK(found.size() == expected.size());
    for (const auto& [key, row] : expected) {
        CAPTURE(key.first);
        CAPTURE(key.second);
        REQUIRE(found.contains(key));
        CHECK(found.at(key).count == row.count);
        CHECK(found.at(key).total_ns == row.total_ns);
        CHECK(found.at(key).self_ns == row.self_ns);
        CHECK((found.at(key) == row));
    }
    CHECK(analysis::self_cpu_time_total_ns(*read) ==
          analysis::total_average(native).self_cpu_time_total_ns);
}

TEST_CASE("the lanes of tasks in an export are read back as neither scopes nor CPU time") {
    check_read_back(coroscope_tests::task_trace());
}

TEST_CASE("scopes of threads and of tasks that move are read back with their recorded times") {
    trace_builder trace;
    const auto main_scope = trace.site("main");
    const auto handle = trace.site("handle", "a.cpp", 3, trace::site_kind::scope, "f", "http");
    const auto parse = trace.site("parse");
    const auto wait = trace.site("wait", "a.cpp", 9, trace::site_kind::await);
    constexpr std::uint32_t in_frame = trace::scope_in_frame | trace::scope_exact;
    trace.on(1)
        .spawn(50, 1, 0, trace::spawn_ready)
        .resume(100, 1)
        .scope(parse, 120, 150)
        .scope(parse, 120, 120)
        .suspend(200, 1, wait);
    trace.on(2).resume(300, 1).scope(parse, 310, 360).suspend(450, 1, wait);
    trace.on(1)
        .resume(500, 1)
        .long_scope(handle, 100, 530, in_frame, 1, 1)
        .finish(530, 1)
        .scope(main_scope, 20, 900);
    trace.on(2).long_scope(parse, 400, 700, trace::scope_in_frame, 0, 2);
    trace.lasts(1'000);
    check_read_back(load(trace));
}

TEST_CASE("the states of threads in an export are no scopes and take no time from scopes") {
    const analysis::trace native = coroscope_tests::states_trace();
    REQUIRE(exported(native).find("blocked: futex") != std::string::npos);
    check_read_back(native);
}

TEST_CASE("a scope of the category of states is a scope in an export, too") {
    trace_builder trace;
    const auto site = trace.site("cut", "a.cpp", 3, trace::site_kind::scope, "f", "thread_state");
    trace.on(1).scope(site, 140, 150);
    check_read_back(load(trace));
}

TEST_CASE("recursion counts once in the totals of an export, too") {
    trace_builder trace;
    const auto walk = trace.site("walk");
    const auto other = trace.site("other");
    trace.on(1)
        .scope(walk, 140, 150)
        .scope(other, 130, 160)
        .scope(walk, 120, 170)
        .scope(walk, 110, 180)
        .scope(other, 100, 200);
    check_read_back(load(trace));
}

TEST_CASE("a program's category that has the name of one of ours is read back as the program's") {
    trace_builder trace;
    const auto site = trace.site("cut", "a.cpp", 3, trace::site_kind::scope, "f", "slice");
    const auto op = trace.site("multiply", "a.cpp", 4, trace::site_kind::scope, "f", "cpu_op");
    const auto plain = trace.site("plain", "a.cpp", 5, trace::site_kind::scope, "f", "scope");
    const auto ask = trace.site("ask", "a.cpp", 6, trace::site_kind::scope, "f", "request");
    trace.on(1).scope(site, 140, 150).scope(op, 200, 300);
    trace.on(1).scope(plain, 310, 320).scope(ask, 330, 340);
    check_read_back(load(trace));
}

TEST_CASE("a request without a category is read back without one") {
    trace_builder trace;
    trace.on(1).scope(trace.site("GET /item", "a.cpp", 3, trace::site_kind::request), 140, 150);
    check_read_back(load(trace));
}

TEST_CASE("a scope on its thread, in which another task ran in place, is read back without it") {
    trace_builder trace;
    const auto accept = trace.site("accept");
    trace.on(1)
        .spawn(100, 1, 0, trace::spawn_started)
        .spawn(120, 2, 0, trace::spawn_started, 1)
        .finish(160, 2, 1)
        .long_scope(accept, 110, 200, trace::scope_exact, 1)
        .finish(300, 1);
    trace.lasts(1'000);
    check_read_back(load(trace));
}

TEST_CASE("arguments of another profiler's file that have the names of ours change no times") {
    const auto read = read_events(
        R"({"traceEvents":[{"ph":"X","name":"a","cat":"slice","pid":1,"tid":1,"ts":1,"dur":5,)"
        R"("args":{"running_ns":1,"self_ns":1,"nested":true}}]})");
    REQUIRE(read.has_value());
    const auto rows = analysis::key_averages(*read, {.select = analysis::event_selection::cpu});
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].cpu_time_total_ns == 5'000);
    CHECK(rows[0].self_cpu_time_total_ns == 5'000);
}

}  // namespace
