// SPDX-License-Identifier: Apache-2.0

// Listings of tasks and awaits, and a task's story, from models made by hand.

#include <coroscope/analysis/views.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../support/json.hpp"
#include "../three_tasks.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope_tests::json;
using coroscope_tests::parse_json;
using coroscope_tests::three_tasks;

TEST_CASE("a task that is only named as a parent has an unknown state and unknown times") {
    trace made;
    made.tasks.resize(2);
    made.tasks[0].id = 1;
    made.tasks[1].id = 2;
    made.tasks[1].parent = 0;
    made.tasks[1].spawn_ns = 5;
    CHECK(
        to_csv(list_task_tree(made)) ==
        "name,task,parent,depth,state,running_ns,suspended_ns,queued_ns,waiting_ns,wall_ns,place\n"
        "unknown,1,,0,unknown,,,,,,\n"
        "unknown,2,1,1,spawned,0,0,0,0,0,\n");
    const json story = parse_json(task_json(made, 0));
    CHECK(story["state"].text == "unknown");
    CHECK(story["running_ns"].is == json::kind::null);
    CHECK(story["wall_ns"].is == json::kind::null);
    CHECK(task_text(made, 0).find("\nWall        unknown\n") != std::string::npos);
    made.tasks.resize(1);
    CHECK(to_csv(list_task_sites(made, task_statistics(made)))
              .ends_with("\nunknown,1,,,,,,,,,,,1 unknown,\n"));
}

TEST_CASE("a task is listed under the task that created it") {
    const listing tree = list_task_tree(three_tasks());
    REQUIRE(tree.rows.size() == 3);
    CHECK(std::get<std::string>(tree.rows[0][0]) == "handle");
    CHECK(std::get<std::string>(tree.rows[1][0]) == "query(int)");
    CHECK(to_text(tree).find("\n  query(int) ") != std::string::npos);
    CHECK(std::get<std::string>(tree.rows[2][0]) == "unknown");
    CHECK(to_csv(tree).find("\nquery(int),2,1,1,finished,0,0,0,0,0,\n") != std::string::npos);
    CHECK(to_csv(tree).find(
              "handle,1,,0,finished,400000,11000000,600000,300000,12300000,src/server.cpp:12\n") !=
          std::string::npos);
}

TEST_CASE("tasks that are each other's parents are listed once") {
    trace made = three_tasks();
    made.tasks[0].parent = 1;
    made.tasks[2].parent = 2;
    CHECK(list_task_tree(made).rows.size() == 3);
}

TEST_CASE("a chain of a hundred thousand tasks is listed") {
    trace made;
    made.tasks.resize(100'000);
    for (std::uint32_t at = 1; at < made.tasks.size(); ++at) made.tasks[at].parent = at - 1;
    CHECK(list_task_tree(made).rows.size() == 100'000);
}

TEST_CASE("a task's story has its split, its awaits and its slices, and null for unknown parts") {
    const trace made = three_tasks();
    REQUIRE(find_task(made, 1) == 0);
    CHECK_FALSE(find_task(made, 99).has_value());
    const std::string text = task_text(made, 0);
    CHECK(text.find("Task        1 (handle)\n") == 0);
    CHECK(text.find("Wall        12.3 ms = 0.4 ms running + 11.0 ms suspended + 0.6 ms queued + "
                    "0.3 ms waiting\n") != std::string::npos);
    CHECK(text.find("examples/service/store.cpp:42") != std::string::npos);
    CHECK(text.find("main (1)") != std::string::npos);
    const json story = parse_json(task_json(made, 0));
    CHECK(story["awaits"][0]["awaited"].integer() == 2);
    CHECK(story["awaits"][0]["suspended_ns"].integer() == 11'000'000);
    CHECK(story["awaits"][1]["suspended_ns"].is == json::kind::null);
    CHECK(story["awaits"][1]["waiting_ns"].integer() == 300'000);
    CHECK(story["parent"].is == json::kind::null);
    CHECK(story["slices"][0]["duration_ns"].integer() == 400'000);
}

TEST_CASE("tasks by spawn site have percentiles of those that ended, and empty cells if none has") {
    task_site_statistics ended;
    ended.site = 0;
    ended.name = "handle";
    ended.count = 2;
    ended.states[static_cast<std::size_t>(task_state::finished)] = 1;
    ended.states[static_cast<std::size_t>(task_state::suspended)] = 1;
    ended.wall = {1, 10, 20, 30, 40};
    ended.time = {1, 2, 3, 4};
    task_site_statistics alive;
    alive.name = "unknown";
    alive.count = 1;
    CHECK(to_csv(list_task_sites(three_tasks(), {ended, alive})) ==
          "name,count,p50_ns,p90_ns,p99_ns,max_ns,running_ns,suspended_ns,queued_ns,waiting_ns,"
          "wall_ns,"
          "spawn_to_wake_ns,states,place\n"
          "handle,2,10,20,30,40,1,2,3,4,10,,\"1 suspended, 1 finished\",src/server.cpp:12\n"
          "unknown,1,,,,,0,0,0,0,0,,,\n");
}

TEST_CASE("tasks that were cancelled before they ran have no wall time, and no percentiles of it") {
    trace made = three_tasks();
    made.tasks.resize(1);
    task_info& dropped = made.tasks[0];
    dropped = {};
    dropped.id = 7;
    dropped.spawn_site = 0;
    dropped.state = task_state::cancelled;
    dropped.spawn_ns = 100;
    dropped.end_ns = 900;
    const std::string sites = to_text(list_task_sites(made, task_statistics(made)));
    CHECK(sites.find("unknown") == std::string::npos);
    CHECK(
        sites.find("handle       1           -           -           -           -     0.000us") !=
        std::string::npos);
    const std::string story = task_text(made, 0);
    CHECK(story.find("\nFirst wake  none\n") != std::string::npos);
    CHECK(story.find("\nWall        0 ns, cancelled before it ran\n") != std::string::npos);
    dropped.losses = true;
    CHECK(task_text(made, 0).find("\nFirst wake  unknown\n") != std::string::npos);
}

TEST_CASE("moments that are close together late in a session are distinct") {
    trace made = three_tasks();
    constexpr std::int64_t late_ns = 3'278'000'000;
    task_info& late = made.tasks[0];
    late.spawn_ns = late.first_wake_ns = late_ns;
    late.end_ns = late_ns + 2'000;
    late.awaits = {};
    late.slices = index_range(static_cast<std::uint32_t>(made.slices.size()), 2);
    made.slices.push_back({.start_ns = late_ns, .end_ns = late_ns + 180, .task = 0, .thread = 0});
    made.slices.push_back(
        {.start_ns = late_ns + 310, .end_ns = late_ns + 2'000, .task = 0, .thread = 0});
    const std::string story = task_text(made, 0);
    CHECK(story.find("\nFirst wake  3.2780000s\nEnded       3.2780020s\n") != std::string::npos);
    CHECK(story.find("  3.2780000s     0.180us\n") != std::string::npos);
    CHECK(story.find("  3.2780003s     1.690us\n") != std::string::npos);
    const std::string in_ms = task_text(made, 0, {.unit = time_unit::milliseconds});
    CHECK(in_ms.find("\nEnded       3278.0020ms\n") != std::string::npos);
}

TEST_CASE("awaits by site have the scope around them and their place") {
    await_site_statistics query;
    query.site = 1;
    query.name = "db.query";
    query.times = {1, 0, 0, 11'000'000, 600'000, 0};
    query.length = {1, 5, 6, 7, 8};
    await_site_statistics unseen;
    unseen.name = "unknown";
    unseen.times = {1, 1, 0, 0, 0, 300'000};
    const std::string csv = to_csv(list_await_sites(three_tasks(), {query, unseen}));
    CHECK(
        csv ==
        "name,scope,count,total_ns,suspended_ns,queued_ns,waiting_ns,p50_ns,p99_ns,max_ns,"
        "unknown_wakes,wakes_by_resume,"
        "unfinished,partial,place\n"
        "db.query,handle,1,11600000,11000000,600000,0,5,7,8,0,0,0,0,examples/service/store.cpp:42\n"
        "unknown,,1,300000,,,300000,,,,1,0,0,0,\n");
}

TEST_CASE("an await without a seen wake has unknown parts in every listing") {
    trace loaded = three_tasks();
    loaded.awaits.clear();
    await_info& hung = loaded.awaits.emplace_back();
    hung.task = 0;
    hung.site = 1;
    hung.suspend_ns = loaded.duration_ns - 40;
    loaded.tasks[0].awaits = index_range(static_cast<std::uint32_t>(loaded.awaits.size() - 1), 1);
    loaded.tasks[0].time = {2, 0, 0, 40};
    loaded.tasks[0].end_ns.reset();
    const std::vector<await_site_statistics> sites = await_statistics(loaded);
    REQUIRE(sites.size() == 1);
    CHECK(to_csv(list_await_sites(loaded, sites)).find(",1,40,,,40,,,,1,0,1,") !=
          std::string::npos);
    CHECK(to_csv(list_await_chains(loaded, await_chains(loaded))).find("\n40,,,40,1,1,0,1,") !=
          std::string::npos);
    CHECK(to_csv(list_task_awaits(loaded, 0)).find(",,,40,40,no,") != std::string::npos);
    CHECK(to_csv(list_task_tree(loaded)).find(",2,,,40,42,") != std::string::npos);
    CHECK(to_csv(list_task_sites(loaded, task_statistics(loaded))).find(",2,,,40,42,") !=
          std::string::npos);
    CHECK(task_json(loaded, 0).find("\"suspended_ns\": null") != std::string::npos);
}

TEST_CASE("sums with unseen parts are marked as lower bounds in text") {
    await_site_statistics mixed;
    mixed.name = "mixed";
    mixed.times = {3, 1, 0, 11'000'000, 0, 300'000};
    const listing list = list_await_sites(three_tasks(), {mixed});
    const std::string text = to_text(list);
    CHECK(text.find("  11.000ms+    0.000us+   300.000us ") != std::string::npos);
    CHECK(to_csv(list).find(",3,11300000,11000000,0,300000,") != std::string::npos);
    CHECK(to_json(list).find("\"suspended_ns\": 11000000") != std::string::npos);
    const auto sorted = arranged(list, {.sort_by = "suspended"});
    CHECK(sorted.has_value());
}

TEST_CASE("a chain of awaits reads from the outside in") {
    await_chain chain;
    chain.sites = {0, none, 2, 1};
    chain.times.count = 2;
    chain.times.suspended_ns = 10;
    chain.times.unfinished = 1;
    CHECK(to_csv(list_await_chains(three_tasks(), {chain})) ==
          "total_ns,suspended_ns,queued_ns,waiting_ns,count,unknown_wakes,wakes_by_resume,"
          "unfinished,partial,place,"
          "chain\n"
          "10,10,0,0,2,0,0,1,0,examples/service/store.cpp:42,handle > unknown > query(int) > "
          "db.query\n");
}

}  // namespace
