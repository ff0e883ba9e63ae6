// SPDX-License-Identifier: Apache-2.0
// The answers that are computed from the model.

#include <algorithm>

#include <doctest/doctest.h>

#include "../loading.hpp"
#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/analysis/slowest_request.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/analysis/views.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

// Two requests, each a task that awaits a child task, which awaits a query.
trace_builder two_requests() {
    trace_builder built;
    const auto serve = built.site("", "server.cpp", 10, trace::site_kind::coroutine, "serve");
    const auto child = built.site("", "load.cpp", 20, trace::site_kind::coroutine, "load");
    const auto handle = built.site("", "server.cpp", 11, trace::site_kind::function, "serve");
    const auto fetch = built.site("fetch", "server.cpp", 12, trace::site_kind::await);
    const auto query = built.site("query", "load.cpp", 22, trace::site_kind::await);
    const auto render =
        built.site("render", "server.cpp", 14, trace::site_kind::scope, "serve", "view");
    built.lasts(100'000);
    auto writer = built.on(1);
    for (std::int64_t request = 0; request < 2; ++request) {
        const std::int64_t at = 1000 + request * 1000;
        const std::int64_t slow = request * 300;
        const auto outer = static_cast<std::uint64_t>(10 + request);
        const auto inner = static_cast<std::uint64_t>(20 + request);
        writer.spawn(at, outer, serve, trace::spawn_started)
            .spawn(at + 10, inner, child, 0, outer)
            .transfer(at + 20, outer, inner, fetch)
            .suspend(at + 40, inner, query)
            .wake(at + 240 + slow, inner)
            .resume(at + 250 + slow, inner)
            .finish_transfer(at + 260 + slow, inner, outer)
            .scope(render, at + 270 + slow, at + 290 + slow)
            .long_scope(handle, at + 5, at + 295 + slow, trace::scope_in_frame | trace::scope_exact,
                        outer)
            .finish(at + 300 + slow, outer);
    }
    return built;
}

}  // namespace

TEST_CASE("key_averages adds up scopes of one name and category, in order of first appearance") {
    trace_builder built;
    const auto a = built.site("a", "x.cpp", 1), same = built.site("a", "y.cpp", 2),
               b = built.site("b"),
               other = built.site("a", "x.cpp", 3, trace::site_kind::scope, "f", "io");
    built.on(1)
        .scope(b, 10, 20)
        .scope(a, 5, 30)
        .scope(same, 40, 45)
        .scope(other, 50, 60)
        .scope(b, 70, 73);
    const auto loaded = load(built);
    const auto rows = analysis::key_averages(loaded);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].name == "a");
    CHECK(rows[0].count == 2);
    CHECK(rows[0].cpu_time_total_ns == 30);
    CHECK(rows[0].self_cpu_time_total_ns == 20);
    CHECK(rows[0].min_wall_ns == 5);
    CHECK(rows[0].max_wall_ns == 25);
    CHECK(rows[1].name == "b");
    CHECK(rows[1].count == 2);
    CHECK(rows[2].category == "io");
    const auto by_line = analysis::key_averages(loaded, analysis::average_key::source_line);
    REQUIRE(by_line.size() == 4);
    CHECK(by_line[0].count == 1);

    const auto total = analysis::total_average(loaded);
    CHECK(total.name == "Total");
    CHECK(total.count == 5);
    CHECK(total.cpu_time_total_ns == 53);
    CHECK(total.self_cpu_time_total_ns == 43);
}

TEST_CASE("the total of a row counts a scope nested in another scope of the row once, directly "
          "nested or not") {
    trace_builder built;
    const auto f = built.site("f"), g = built.site("g");
    built.on(1).scope(f, 30, 40).scope(g, 20, 50).scope(f, 10, 60).scope(f, 0, 100).scope(f, 200,
                                                                                          210);
    const auto loaded = load(built);
    const auto rows = analysis::key_averages(loaded);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "f");
    CHECK(rows[0].count == 4);
    CHECK(rows[0].cpu_time_total_ns == 110);
    CHECK(rows[0].wall_ns == 110);
    CHECK(rows[0].self_cpu_time_total_ns == 90);
    CHECK(rows[0].min_wall_ns == 10);
    CHECK(rows[0].max_wall_ns == 100);
    CHECK(rows[1].cpu_time_total_ns == 30);
    CHECK(analysis::total_average(loaded).self_cpu_time_total_ns == 110);
}

TEST_CASE("shares are of all running time, that of tasks without scopes included, so that none is "
          "above 100 %") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner");
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .scope(inner, 20, 50)
        .finish(100, 1)
        .scope(outer, 0, 110);
    const auto loaded = load(built);
    CHECK(event(loaded, "outer").self_running_ns == 20);
    CHECK(analysis::total_average(loaded).self_cpu_time_total_ns == 50);
    CHECK(analysis::running_time_total_ns(loaded) == 110);
    const auto text = analysis::table(analysis::table_of(loaded));
    REQUIRE(text);
    CHECK(text->find("100.00%") != std::string::npos);
    CHECK(text->find("\nRunning time total: 0.110us, of which tasks ran 0.060us outside their "
                     "scopes\n") != std::string::npos);
}

TEST_CASE("all running time is the self time of scopes where no task ran outside its scopes") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner");
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .scope(inner, 10, 100)
        .finish(100, 1)
        .scope(outer, 0, 110);
    const auto loaded = load(built);
    CHECK(analysis::running_time_total_ns(loaded) == 110);
    CHECK(analysis::table(analysis::table_of(loaded))->find("\nRunning time total") ==
          std::string::npos);
}

TEST_CASE("a table without scopes names the views that show what the trace has") {
    trace_builder tasks;
    tasks.on(1).spawn(10, 1, 0, trace::spawn_started).finish(100, 1);
    CHECK(analysis::table(analysis::table_of(load(tasks)))
              ->find("Tasks without a scope: 1; see coroscope tasks\n") != std::string::npos);
    analysis::trace memory = load(trace_builder());
    memory.memory.resize(3);
    CHECK(analysis::table(analysis::table_of(memory))
              ->find("Memory records outside scopes: 3; see coroscope table --torch\n") !=
          std::string::npos);
    CHECK(analysis::summary(memory).find("Memory records: 3") != std::string::npos);
    analysis::trace attributes = load(trace_builder());
    attributes.attributes.resize(2);
    CHECK(analysis::table(analysis::table_of(attributes))
              ->find("Attributes without a scope: 2; see coroscope export --to csv --table "
                     "attributes\n") != std::string::npos);
}

TEST_CASE("the time of a call that began before the session is at least that in the session, and "
          "no minimum, maximum or percentile counts the call") {
    trace_builder built;
    const auto cut = built.site("cut"), whole = built.site("whole");
    built.on(1).scope(cut, -60, 40).scope(whole, -10, 45).scope(whole, 50, 55).scope(whole, 60, 62);
    const auto loaded = load(built);
    auto rows = analysis::key_averages(loaded);
    analysis::add_percentiles(rows, loaded);
    REQUIRE(rows.size() == 2);
    const auto& both = rows[0].name == "whole" ? rows[0] : rows[1];
    const auto& only = rows[0].name == "cut" ? rows[0] : rows[1];
    CHECK(only.count == 1);
    CHECK(only.partial_count == 1);
    CHECK(only.cpu_time_total_ns == 40);
    CHECK(only.wall_percentiles->count == 0);
    CHECK(both.count == 3);
    CHECK(both.partial_count == 1);
    CHECK(both.min_wall_ns == 2);
    CHECK(both.max_wall_ns == 5);
    CHECK(both.wall_percentiles->max_ns == 5);

    const analysis::table_input input = analysis::table_of(loaded);
    const std::string text = *analysis::table(input);
    CHECK(text.find("0.040us+") != std::string::npos);
    CHECK(text.find("Partial: 2 calls that began before the session") != std::string::npos);
    const std::string csv = *analysis::table_csv(input);
    CHECK(csv.find("cut,,1,40,40,0,0,0,40,,,0,1\n") != std::string::npos);
}

TEST_CASE("an await that began before the session is at least as long as its part in the session") {
    trace_builder built;
    built.on(1).wake(30, 7).resume(40, 7).suspend(60, 7).wake(70, 7).resume(80, 7).finish(90, 7);
    const auto loaded = load(built);
    const auto sites = analysis::await_statistics(loaded);
    REQUIRE(sites.size() == 1);
    CHECK(sites[0].times.count == 2);
    CHECK(sites[0].times.partial == 1);
    CHECK(sites[0].times.total_ns() == 60);
    CHECK(sites[0].length.count == 1);
    CHECK(sites[0].length.max_ns == 20);
    const std::string text = analysis::to_text(analysis::list_await_sites(loaded, sites));
    CHECK(text.find("0.060us+") != std::string::npos);
}

TEST_CASE("an average keeps suspended, queued and waiting time beside running, and counts unknown "
          "suspensions") {
    trace_builder built;
    const auto site = built.site("handle");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .wake(150, 1)
        .resume(200, 1)
        .long_scope(site, 50, 250, trace::scope_in_frame | trace::scope_exact, 1)
        .finish(260, 1)
        .long_scope(site, 300, 340, trace::scope_in_frame);
    const auto rows = analysis::key_averages(load(built));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].count == 2);
    CHECK(rows[0].in_frame_count == 2);
    CHECK(rows[0].unknown_count == 1);
    CHECK(rows[0].cpu_time_total_ns == 100);
    CHECK(rows[0].suspended_ns == 50);
    CHECK(rows[0].queued_ns == 50);
    CHECK(rows[0].waiting_ns == 40);
    CHECK(rows[0].wall_ns == 240);
}

TEST_CASE("a value near the end of a chain of 200,000 attributes is found for every scope that "
          "carries it") {
    constexpr std::uint32_t many = 200'000;
    analysis::trace loaded;
    loaded.strings = {"scope", "key", "value", "other"};
    loaded.threads.resize(1);
    loaded.attributes.resize(many);
    for (std::uint32_t at = 0; at < many; ++at)
        loaded.attributes[at] = {3, 3, at == 0 ? analysis::none : at - 1};
    loaded.attributes[1].key = 1;
    loaded.attributes[1].value = 2;
    loaded.events.resize(many);
    for (std::uint32_t at = 0; at < many; ++at) {
        loaded.events[at].name = 0;
        loaded.events[at].thread = 0;
        loaded.events[at].attribute = many - 1 - at;
    }
    const auto rows = analysis::key_averages(loaded, analysis::average_key::attribute, "key");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].group == 2);
    CHECK(rows[0].count == many - 1);
    CHECK(rows[1].group == analysis::none);
    CHECK(rows[1].count == 1);
}

TEST_CASE("attributes in a circle have the value of an attribute in the circle, or no value") {
    analysis::trace loaded;
    loaded.strings = {"scope", "key", "value", "other"};
    loaded.attributes = {{3, 3, 1}, {3, 3, 0}, {1, 2, 3}, {3, 3, 2}, {3, 3, 4}};
    loaded.events.resize(5);
    for (std::uint32_t at = 0; at < 5; ++at) {
        loaded.events[at].name = 0;
        loaded.events[at].attribute = 4 - at;
    }
    const auto rows = analysis::key_averages(loaded, analysis::average_key::attribute, "key");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].group == analysis::none);
    CHECK(rows[0].count == 3);
    CHECK(rows[1].group == 2);
    CHECK(rows[1].count == 2);
}

TEST_CASE("sums that exceed 64 bits stay at the largest figure") {
    constexpr std::int64_t most = 9'223'372'036'854'775'807;
    constexpr std::int64_t half = std::int64_t{1} << 62;
    analysis::trace loaded;
    loaded.strings = {"scope"};
    loaded.sites.resize(1);
    loaded.sites[0].label = "site";
    loaded.threads.resize(1);
    loaded.duration_ns = half;
    for (std::uint32_t at = 0; at < 3; ++at) {
        analysis::event& scope = loaded.events.emplace_back();
        scope.end_ns = scope.self_running_ns = half;
        scope.name = scope.site = 0;
        analysis::task_info& one = loaded.tasks.emplace_back();
        one.spawn_site = 0;
        one.first_wake_ns = 0;
        one.end_ns = half;
        one.state = analysis::task_state::finished;
        one.time = {0, half / 2, half / 4, half / 4};
        one.spawn_to_wake_ns = half;
        one.awaits = analysis::index_range(at, 1);
        analysis::await_info& waited = loaded.awaits.emplace_back();
        waited.task = at;
        waited.site = 0;
        waited.wake_ns = waited.resume_ns = half;
    }
    const auto rows = analysis::key_averages(loaded);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].wall_ns == most);
    CHECK(rows[0].cpu_time_total_ns == most);
    CHECK(analysis::total_average(loaded).self_cpu_time_total_ns == most);
    const auto tasks = analysis::task_statistics(loaded);
    REQUIRE(tasks.size() == 1);
    CHECK(tasks[0].wall_ns() == most);
    CHECK(tasks[0].spawn_to_wake_ns == most);
    const auto awaits = analysis::await_statistics(loaded);
    REQUIRE(awaits.size() == 1);
    CHECK(awaits[0].times.suspended_ns == most);
    CHECK(awaits[0].times.total_ns() == most);
    CHECK(analysis::await_chains(loaded)[0].times.total_ns() == most);
    const auto slowest = analysis::slowest_request(loaded);
    REQUIRE(slowest);
    CHECK(slowest->wall_ns == half);
}

TEST_CASE("run-time labels of one text share a row") {
    trace_builder built;
    built.on(1)
        .label(1, 1, "shard 1")
        .label(2, 2, "shard 2")
        .label(3, 3, "shard 1")
        .long_scope(1, 10, 20, trace::scope_dynamic)
        .long_scope(2, 30, 40, trace::scope_dynamic)
        .long_scope(3, 50, 60, trace::scope_dynamic);
    const auto rows = analysis::key_averages(load(built));
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "shard 1");
    CHECK(rows[0].count == 2);
    CHECK(rows[0].site == analysis::none);
}

TEST_CASE("an empty trace has no rows, and a total of 0 calls") {
    const auto loaded = load(trace_builder());
    CHECK(analysis::key_averages(loaded).empty());
    CHECK(analysis::total_average(loaded).count == 0);
    CHECK(analysis::task_statistics(loaded).empty());
    CHECK(analysis::await_statistics(loaded).empty());
    CHECK(analysis::await_chains(loaded).empty());
    CHECK_FALSE(analysis::slowest_request(loaded));
}

TEST_CASE("percentiles are durations that occurred, by nearest rank") {
    std::vector<std::int64_t> durations;
    for (std::int64_t value = 100; value >= 1; --value) durations.push_back(value);
    const auto found = analysis::percentiles_of(durations);
    CHECK(found.count == 100);
    CHECK(found.p50_ns == 50);
    CHECK(found.p90_ns == 90);
    CHECK(found.p99_ns == 99);
    CHECK(found.max_ns == 100);
    std::vector<std::int64_t> one{7};
    CHECK(analysis::percentiles_of(one).p50_ns == 7);
    std::vector<std::int64_t> nothing;
    CHECK(analysis::percentiles_of(nothing).count == 0);
}

TEST_CASE("task statistics add up by spawn site, the longest first") {
    const auto sites = analysis::task_statistics(load(two_requests()));
    REQUIRE(sites.size() == 2);
    CHECK(sites[0].name == "serve");
    CHECK(sites[0].count == 2);
    CHECK(sites[0].in_state(analysis::task_state::finished) == 2);
    CHECK(sites[0].wall_ns() == 300 + 600);
    CHECK(sites[0].time.running_ns == 2 * 60);
    CHECK(sites[0].wall.count == 2);
    CHECK(sites[0].wall.p50_ns == 300);
    CHECK(sites[0].wall.max_ns == 600);
    CHECK(sites[1].name == "load");
    CHECK(sites[1].spawn_to_wake_count == 2);
    CHECK(sites[1].spawn_to_wake_ns == 20);
}

TEST_CASE("await statistics add up by await site, the longest first") {
    const auto sites = analysis::await_statistics(load(two_requests()));
    REQUIRE(sites.size() == 2);
    CHECK(sites[0].name == "fetch");
    CHECK(sites[0].times.suspended_ns == 240 + 540);
    CHECK(sites[1].name == "query");
    CHECK(sites[1].times.count == 2);
    CHECK(sites[1].times.suspended_ns == 200 + 500);
    CHECK(sites[1].times.queued_ns == 20);
    CHECK(sites[1].times.unknown_wakes == 0);
    CHECK(sites[1].length.max_ns == 510);
}

TEST_CASE(
    "an await chain goes from the root's spawn site to the innermost await, which it counts once") {
    const auto loaded = load(two_requests());
    const auto chains = analysis::await_chains(loaded);
    REQUIRE(chains.size() == 1);
    REQUIRE(chains[0].sites.size() == 4);
    CHECK(loaded.sites[chains[0].sites[0]].function == "serve");
    CHECK(loaded.sites[chains[0].sites[1]].label == "fetch");
    CHECK(loaded.sites[chains[0].sites[2]].function == "load");
    CHECK(loaded.sites[chains[0].sites[3]].label == "query");
    CHECK(chains[0].times.count == 2);
    CHECK(chains[0].times.total_ns() == 210 + 510);
}

TEST_CASE("an await that was never resumed lasts until its task's end, or the session's end") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .suspend(100, 1)
        .finish(300, 1, 0, trace::finish_destroyed)
        .spawn(400, 2, 0, trace::spawn_started)
        .suspend(500, 2)
        .wake(600, 2);
    const auto loaded = load(built);
    check_time(analysis::split_of(loaded, await(loaded, task(loaded, 1), 0)), 0, 0, 0, 200);
    check_time(analysis::split_of(loaded, await(loaded, task(loaded, 2), 0)), 0, 100, 400, 0);
    const analysis::await_times times = analysis::await_statistics(loaded)[0].times;
    CHECK(times.unfinished == 2);
    CHECK(times.unknown_wakes == 1);
}

TEST_CASE("the slowest request is the slowest instance of the function that encloses most awaits") {
    const auto loaded = load(two_requests());
    const auto request = analysis::slowest_request(loaded);
    REQUIRE(request);
    CHECK(request->name == "serve");
    CHECK(request->instances == 2);
    CHECK(request->start_ns == 2005);
    CHECK(request->wall_ns == 590);
    CHECK(request->time.wall_ns() == 590);
    REQUIRE(request->parts.size() == 3);
    CHECK(request->parts[0].kind == analysis::part_kind::await);
    CHECK(request->parts[0].label == "fetch");
    CHECK(loaded.sites[request->parts[0].site].line == 12);
    CHECK(request->parts[0].wall_ns() == 540);
    std::int64_t sum_ns = 0;
    for (const analysis::request_part& part : request->parts) sum_ns += part.wall_ns();
    CHECK(sum_ns == request->wall_ns);
}

TEST_CASE("slowest_request finds a request by the name of a scope or of a task") {
    const auto loaded = load(two_requests());
    const auto scope = analysis::slowest_request(loaded, "render");
    REQUIRE(scope);
    CHECK(scope->wall_ns == 20);
    CHECK(scope->parts.size() == 1);
    CHECK(scope->parts[0].kind == analysis::part_kind::self);
    const auto task = analysis::slowest_request(loaded, "load");
    REQUIRE(task);
    CHECK(task->event == analysis::none);
    CHECK(task->wall_ns == 540);
    CHECK(task->parts[0].label == "query");
    CHECK_FALSE(analysis::slowest_request(loaded, "no such thing"));
}

TEST_CASE("a function that lasts for most of the session counts as a loop, not as a request") {
    auto built = two_requests();
    const auto loop = built.site("", "server.cpp", 40, trace::site_kind::function, "accept");
    auto writer = built.on(2);
    writer.spawn(0, 90, 0, trace::spawn_started);
    for (std::int64_t round = 0; round < 50; ++round)
        writer.suspend(1000 + round * 100, 90).resume(1050 + round * 100, 90);
    writer.long_scope(loop, 10, 90'000, trace::scope_in_frame | trace::scope_exact, 90)
        .finish(90'010, 90);
    CHECK(analysis::slowest_request(load(built))->name == "serve");
}

TEST_CASE("the slowest finished task is the request of a trace without function scopes") {
    trace_builder built;
    const auto site = built.site("job", "a.cpp", 3, trace::site_kind::coroutine),
               read = built.site("read", "a.cpp", 5, trace::site_kind::await);
    built.on(1)
        .spawn(0, 1, site, trace::spawn_started)
        .finish(100, 1)
        .spawn(200, 2, site, trace::spawn_started)
        .suspend(250, 2, read)
        .resume(400, 2)
        .finish(450, 2)
        .spawn(500, 3, site, trace::spawn_started);
    const auto request = analysis::slowest_request(load(built));
    REQUIRE(request);
    CHECK(request->name == "job");
    CHECK(request->instances == 2);
    CHECK(request->wall_ns == 250);
    CHECK(request->parts[0].label == "read");
    CHECK(request->parts[0].time.waiting_ns == 150);
}

// A search that visits each scope for each await makes ten thousand million visits.
TEST_CASE("a request with a hundred thousand nested scopes is found") {
    constexpr std::int64_t depth = 100'000;
    trace_builder built;
    const auto job = built.site("job", "a.cpp", 1, trace::site_kind::coroutine);
    const auto walk = built.site("", "a.cpp", 2, trace::site_kind::function, "walk");
    const auto read = built.site("read", "a.cpp", 3, trace::site_kind::await);
    built.lasts(100 * depth);
    auto writer = built.on(1);
    writer.spawn(0, 1, job, trace::spawn_started);
    for (std::int64_t await = 0; await < depth; ++await)
        writer.suspend(depth + await * 10, 1, read).resume(depth + await * 10 + 5, 1);
    for (std::int64_t at = depth; at-- > 0;)
        writer.long_scope(walk, at + 1, 20 * depth - at, trace::scope_in_frame | trace::scope_exact,
                          1);
    writer.finish(30 * depth, 1);
    const auto loaded = load(built);
    const auto request = analysis::slowest_request(loaded);
    REQUIRE(request);
    CHECK(request->name == "walk");
    CHECK(request->start_ns == 1);
    CHECK(request->instances == depth);
    const auto& parts = request->parts;
    const auto reads = std::find_if(parts.begin(), parts.end(),
                                    [](const auto& part) { return part.label == "read"; });
    REQUIRE(reads != parts.end());
    CHECK(reads->count == depth);
}
