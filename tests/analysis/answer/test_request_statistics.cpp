// SPDX-License-Identifier: Apache-2.0
// Requests, marked and guessed, and values.

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "../loading.hpp"
#include <coroscope/analysis/add_process.hpp>
#include <coroscope/analysis/fold_tasks.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/analysis/slowest_request.hpp>
#include <coroscope/analysis/value_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/trace/request_format.hpp>
#include <coroscope/trace/value_format.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

std::uint64_t request_tag(trace::request_form form, std::uint32_t flags = 0) {
    return trace::make_tag(trace::record_kind::fact, trace::make_request_id(form, flags),
                           sizeof(trace::request_body));
}

struct frame_scope {
    std::uint32_t site;
    std::int64_t start;
    std::int64_t end;
};

void add(thread_writer& writer, const frame_scope& scope, std::uint64_t task) {
    writer.long_scope(scope.site, scope.start, scope.end,
                      trace::scope_in_frame | trace::scope_exact, task);
}

// A task with these function scopes, the inner ones first, which awaits once in each innermost one.
void run_task(thread_writer& writer, std::uint64_t task, std::uint32_t spawn, std::uint32_t await,
              const std::vector<frame_scope>& inner, const frame_scope& outer) {
    writer.spawn(outer.start - 10, task, spawn, trace::spawn_started);
    for (const frame_scope& each : inner) {
        writer.suspend(each.start + 1, task, await).resume(each.end - 1, task);
        add(writer, each, task);
    }
    add(writer, outer, task);
    writer.finish(outer.end + 10, task);
}

std::vector<frame_scope> repeated(std::uint32_t site, int times, std::int64_t from,
                                  std::int64_t length) {
    std::vector<frame_scope> scopes;
    for (int at = 0; at < times; ++at)
        scopes.push_back({site, from + at * length + 10, from + (at + 1) * length - 10});
    return scopes;
}

std::string guessed_name(const trace_builder& built) {
    const auto loaded = load(built);
    const analysis::request_list list = analysis::requests_of(loaded);
    CHECK(list.guessed);
    const auto types = analysis::statistics_of_requests(loaded, list);
    REQUIRE(types.size() == 1);
    CHECK(analysis::slowest_request(loaded)->name == types[0].name);
    return types[0].name;
}

}  // namespace

TEST_CASE("percentiles of marked requests are those of the sorted wall times") {
    trace_builder built;
    const auto site = built.site("GET", "a.cpp", 3, trace::site_kind::request);
    std::vector<std::int64_t> lengths;
    auto writer = built.on(1);
    std::int64_t at = 1000;
    for (std::int64_t number = 0; number < 2500; ++number) {
        lengths.push_back(number * 7919 % 2500 + 1);
        writer.scope(site, at, at + lengths.back());
        at += lengths.back() + 5;
    }
    built.lasts(2'000'000'000);
    const auto loaded = load(built);
    const analysis::request_list list = analysis::requests_of(loaded);
    CHECK_FALSE(list.guessed);
    REQUIRE(list.requests.size() == 2500);
    for (std::size_t place = 0; place < 2500; ++place) {
        CHECK(list.requests[place].id == place + 1);
        CHECK(list.requests[place].wall_ns() == lengths[place]);
    }
    const auto types = analysis::statistics_of_requests(loaded, list);
    REQUIRE(types.size() == 1);
    CHECK(types[0].name == "GET");
    CHECK(types[0].count == 2500);
    CHECK(types[0].per_second == doctest::Approx(1250));
    std::vector<std::int64_t> found;
    for (const analysis::request_percentile& each : types[0].percentiles)
        found.push_back(each.time.wall_ns);
    CHECK(found == std::vector<std::int64_t>{1250, 2250, 2475, 2498, 2500});
    CHECK(analysis::slowest_request(loaded)->id == types[0].percentiles.back().id);
}

TEST_CASE("deadlines and failures belong to the scope with that start, thread and site") {
    trace_builder built;
    const auto site = built.site("GET", "a.cpp", 3, trace::site_kind::request);
    const auto other = built.site("PUT", "a.cpp", 9, trace::site_kind::request);
    built.on(1)
        .scope(site, 100, 200)
        .raw(ticks_of(100), request_tag(trace::request_form::scope),
             {trace::make_mark(0, 1), 99, site, 0})
        .scope(site, 300, 400)
        .raw(ticks_of(300), request_tag(trace::request_form::scope),
             {trace::make_mark(0, 1), 100, site, 0})
        .raw(ticks_of(300), request_tag(trace::request_form::scope, trace::request_failed),
             {trace::make_mark(0, 1), 0, site, 0})
        .raw(ticks_of(500), request_tag(trace::request_form::scope, trace::request_failed),
             {trace::make_mark(0, 1), 0, other, 0})
        .scope(site, 500, 600);
    built.on(2)
        .scope(site, 300, 450)
        .raw(ticks_of(1),
             trace::make_tag(trace::record_kind::fact,
                             trace::make_request_id(trace::request_form::scope), 16),
             {0, 0});
    const auto loaded = load(built);
    REQUIRE(loaded.requests.size() == 4);
    CHECK(loaded.requests[0].is_late());
    CHECK(loaded.requests[0].end == analysis::request_end::completed);
    CHECK(loaded.requests[1].thread == 1);
    CHECK_FALSE(loaded.requests[1].deadline_ns);
    CHECK(loaded.requests[2].deadline_ns == 100);
    CHECK_FALSE(loaded.requests[2].is_late());
    CHECK(loaded.requests[2].end == analysis::request_end::failed);
    CHECK(loaded.requests[3].end == analysis::request_end::completed);
    const auto types = analysis::statistics_of_requests(loaded, analysis::requests_of(loaded));
    REQUIRE(types.size() == 1);
    CHECK(types[0].failed == 1);
    CHECK(types[0].late == 1);
    CHECK(types[0].with_deadline == 2);
    REQUIRE(loaded.health.warnings.size() == 1);
    CHECK(loaded.health.warnings[0].find("malformed facts about requests") != std::string::npos);
}

TEST_CASE("a request has its scopes, its awaits and its child tasks, and nothing beside them") {
    trace_builder built;
    const auto get = built.site("GET", "a.cpp", 3, trace::site_kind::request),
               render = built.site("render", "a.cpp", 4),
               read = built.site("read", "a.cpp", 5, trace::site_kind::await),
               serve = built.site("serve", "a.cpp", 1, trace::site_kind::coroutine);
    auto writer = built.on(1);
    writer.spawn(10, 1, serve, trace::spawn_started)
        .spawn(20, 9, serve, 0, 1)  // before the request
        .suspend(30, 1, read)
        .resume(90, 1)
        .spawn(120, 2, serve, 0, 1)
        .suspend(130, 1, read)
        .resume(140, 2)
        .spawn(150, 3, serve, 0, 2)
        .scope(render, 160, 170)
        .finish(180, 2)
        .wake(190, 1)
        .resume(200, 1)
        .scope(render, 210, 220);
    add(writer, {get, 100, 230}, 1);
    writer.scope(render, 240, 250).finish(300, 1);
    const auto loaded = load(built);
    REQUIRE(loaded.requests.size() == 1);
    const auto steps = analysis::steps_of_request(loaded, loaded.requests[0]);
    using kind = analysis::request_step_kind;
    struct expected {
        kind what;
        std::int64_t start_ns;
        std::uint32_t depth;
    };
    const std::vector<expected> all{{kind::task, 120, 0},
                                    {kind::task, 150, 1},
                                    {kind::scope, 160, 1},
                                    {kind::await, 130, 0},
                                    {kind::scope, 210, 0}};
    REQUIRE(steps.size() == all.size());
    for (std::size_t at = 0; at < all.size(); ++at) {
        CHECK(steps[at].kind == all[at].what);
        CHECK(steps[at].start_ns == all[at].start_ns);
        CHECK(steps[at].depth == all[at].depth);
    }
    const auto time = analysis::times_of_requests(loaded, loaded.requests).front();
    CHECK(time.wall_ns == 130);
    CHECK(time.time.running_ns == 60);
    CHECK(time.time.suspended_ns == 60);
    CHECK(time.time.queued_ns == 10);
    const analysis::listing list = analysis::list_request_steps(loaded, loaded.requests[0]);
    CHECK(list.rows.size() == all.size());
}

TEST_CASE("a moment of a task, of its child or of a thread finds the innermost request around it") {
    trace_builder built;
    const auto get = built.site("GET", "a.cpp", 3, trace::site_kind::request);
    auto writer = built.on(1);
    writer.spawn(10, 1, 0, trace::spawn_started).spawn(120, 2, 0, 0, 1).spawn(190, 3, 0, 0, 1);
    writer.suspend(195, 1).resume(198, 2);
    add(writer, {get, 100, 150}, 1);
    add(writer, {get, 90, 180}, 1);
    writer.finish(250, 2).scope(get, 300, 400);
    const auto loaded = load(built);
    const analysis::request_list list = analysis::requests_of(loaded);
    const auto found = [&](std::uint64_t task, std::uint32_t thread, std::int64_t at_ns) {
        const auto place =
            analysis::find_request(loaded, list, {task, thread, loaded.start_monotonic_ns + at_ns});
        return place ? list.requests[*place].id : 0;
    };
    CHECK(found(1, 1, 110) == 2);
    CHECK(found(1, 1, 160) == 1);
    CHECK(found(1, 1, 185) == 0);
    CHECK(found(2, 1, 220) == 2);
    CHECK(found(3, 1, 220) == 0);
    CHECK(found(0, 1, 350) == 3);
    CHECK(found(0, 2, 350) == 0);
    CHECK(found(77, 1, 110) == 0);
    CHECK_FALSE(analysis::read_request_moment("12"));
    CHECK_FALSE(analysis::read_request_moment("t@3"));
    CHECK(analysis::read_request_moment("t3@40")->thread_id == 3);
}

TEST_CASE("a call that retries eight times is a guessed request, and no loop") {
    trace_builder built;
    const auto task = built.site("serve", "s.cpp", 1, trace::site_kind::coroutine),
               query = built.site("query", "s.cpp", 9, trace::site_kind::await),
               fetch = built.site("", "s.cpp", 2, trace::site_kind::function, "fetch"),
               attempt = built.site("", "s.cpp", 3, trace::site_kind::function, "attempt");
    auto writer = built.on(1);
    for (std::int64_t number = 0; number < 3; ++number)
        run_task(writer, static_cast<std::uint64_t>(number) + 1, task, query,
                 repeated(attempt, 8, 1000 + number * 2000, 200),
                 {fetch, 1000 + number * 2000, 2700 + number * 2000});
    built.lasts(8000);
    CHECK(guessed_name(built) == "fetch");
}

TEST_CASE(
    "the function that a connection repeats is the guessed request, also if it retries often") {
    trace_builder built;
    const auto task = built.site("serve", "s.cpp", 1, trace::site_kind::coroutine),
               query = built.site("query", "s.cpp", 9, trace::site_kind::await),
               connection = built.site("", "s.cpp", 2, trace::site_kind::function, "connection"),
               answer = built.site("", "s.cpp", 3, trace::site_kind::function, "answer"),
               attempt = built.site("", "s.cpp", 4, trace::site_kind::function, "attempt");
    auto writer = built.on(1);
    std::vector<frame_scope> inner;
    for (std::int64_t number = 0; number < 20; ++number) {
        for (const frame_scope& each : repeated(attempt, 20, 1000 + number * 5000, 200))
            inner.push_back(each);
        inner.push_back({answer, 1000 + number * 5000, 5500 + number * 5000});
    }
    writer.spawn(500, 1, task, trace::spawn_started);
    for (const frame_scope& each : inner) {
        if (each.site == attempt) writer.suspend(each.start + 1, 1, query).resume(each.end - 1, 1);
        add(writer, each, 1);
    }
    add(writer, {connection, 600, 110'000}, 1);
    writer.finish(110'100, 1);
    built.lasts(1'000'000);
    CHECK(guessed_name(built) == "answer");
}

TEST_CASE("one slow request of a short recording is the guessed request") {
    trace_builder built;
    const auto task = built.site("serve", "s.cpp", 1, trace::site_kind::coroutine),
               query = built.site("query", "s.cpp", 9, trace::site_kind::await),
               handle = built.site("", "s.cpp", 2, trace::site_kind::function, "handle"),
               load_row = built.site("", "s.cpp", 3, trace::site_kind::function, "load_row");
    auto writer = built.on(1);
    run_task(writer, 1, task, query, repeated(load_row, 2, 1000, 4000), {handle, 1000, 9100});
    built.lasts(10'000);
    CHECK(guessed_name(built) == "handle");
    const auto loaded = load(built);
    const analysis::request_list list = analysis::requests_of(loaded);
    CHECK_FALSE(list.failures_known);
    CHECK(analysis::request_text(loaded, list, 0).find("guessed") != std::string::npos);
}

TEST_CASE("requests of two processes keep their ids, and a whole task that is one is not folded") {
    trace_builder built;
    const auto get = built.site("GET", "a.cpp", 3, trace::site_kind::request),
               serve = built.site("serve", "a.cpp", 1, trace::site_kind::coroutine);
    built.on(1)
        .spawn(100, 1, serve, trace::spawn_started)
        .raw(ticks_of(110), request_tag(trace::request_form::task),
             {trace::make_mark(1, 1), 50, get, 0})
        .finish(300, 1, 0, trace::finish_exception)
        .spawn(400, 2, serve, trace::spawn_started)
        .finish(500, 2);
    const auto loaded = load(built);
    REQUIRE(loaded.requests.size() == 1);
    CHECK(loaded.requests[0].wall_ns() == 200);
    CHECK(loaded.requests[0].is_late());
    CHECK(loaded.requests[0].end == analysis::request_end::failed);
    const auto folded = analysis::fold_tasks(loaded, {.libraries = false, .patterns = {"serve"}});
    REQUIRE(folded.tasks.size() == 1);
    CHECK(folded.requests[0].task == 0);
    analysis::trace both = loaded;
    analysis::add_process(both, loaded);
    REQUIRE(both.requests.size() == 2);
    CHECK(both.requests[1].id == 1);
    CHECK(both.requests[1].task == 2);
}

TEST_CASE("values add up by label, place and scope") {
    trace_builder built;
    const auto around = built.site("around", "a.cpp", 2),
               depth = built.site("depth", "a.cpp", 3, trace::site_kind::value);
    const auto value = [&](thread_writer& writer, std::int64_t at, std::uint64_t bits,
                           bool is_double) {
        writer.raw(ticks_of(at),
                   trace::make_tag(trace::record_kind::fact, trace::make_value_id(depth, is_double),
                                   sizeof(trace::value_body)),
                   {bits, trace::make_mark(0, 1)});
    };
    auto writer = built.on(1);
    for (std::int64_t at = 1; at <= 200; ++at)
        value(writer, 100 + at, static_cast<std::uint64_t>(at), false);
    value(writer, 400, 0x7ff8'0000'0000'0000, true);
    writer.scope(around, 100, 500);
    value(writer, 600, static_cast<std::uint64_t>(-5), false);
    value(writer, 700, 0x3fe0'0000'0000'0000, true);
    const auto loaded = load(built);
    const auto all = analysis::statistics_of_values(loaded);
    REQUIRE(all.size() == 2);
    CHECK(loaded.strings[all[0].scope] == "around");
    CHECK(all[0].label == "depth");
    CHECK(all[0].count == 201);
    CHECK(all[0].not_numbers == 1);
    CHECK(all[0].least == 1);
    CHECK(all[0].mean == doctest::Approx(100.5));
    CHECK(all[0].p99 == 198);
    CHECK(all[0].most == 200);
    CHECK(all[1].scope == analysis::none);
    CHECK(all[1].least == -5);
    CHECK(all[1].most == 0.5);
}
