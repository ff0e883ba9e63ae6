// SPDX-License-Identifier: Apache-2.0

// Listings, a task's story, what a trace holds, and the summary, from models made by hand.

#include <coroscope/analysis/views.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../support/json.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope_tests::json;
using coroscope_tests::parse_json;

/// Task 1 (handle) created task 2 (query) and waited for it; task 3 has a wake that nobody saw.
trace three_tasks() {
    trace made;
    made.process_name = "service";
    made.process_id = 4242;
    made.clock = "tsc";
    made.policy = "drop newest";
    made.all_threads = true;
    made.duration_ns = 20'000'000;
    made.start_realtime_ns = 1'700'000'000'000'000'000;
    made.file_bytes = 4096;
    made.scope_cost_ns = 20.5;
    made.await_cost_ns = 41;
    made.strings = {"handle"};
    made.sites = {{"handle", "", "../src/server.cpp", 12, "", "", 3},
                  {"db.query", "", "/a/b/examples/service/store.cpp", 42, "", "", 2},
                  {"", "query(int)", "", 0, "", "", 3}};
    made.threads = {{1, 4242, "main", 0, 0, 0}, {2, 4243, "", 5, 0, 0}};
    made.tasks.resize(3);
    for (std::uint32_t at = 0; at < 3; ++at) {
        made.tasks[at].id = at + 1;
        made.tasks[at].state = task_state::finished;
        made.tasks[at].spawn_ns = 1'000;
        made.tasks[at].first_wake_ns = 1'000;
        made.tasks[at].end_ns = 12'301'000;
    }
    made.tasks[0].spawn_site = 0;
    made.tasks[0].time = {400'000, 11'000'000, 600'000, 300'000};
    made.tasks[0].slices = {0, 1};
    made.tasks[0].awaits = {0, 2};
    made.tasks[1].spawn_site = 2;
    made.tasks[1].parent = 0;
    made.tasks[1].awaiter = 0;
    made.tasks[2].state = task_state::suspended;
    made.tasks[2].end_ns.reset();
    made.slices = {{1'000, 401'000, 0, 0}};
    made.awaits.resize(2);
    made.awaits[0] = {0, 1, 0, 1, 1, 1, 401'000, 11'401'000, 12'001'000, false};
    made.awaits[1] = {0, none, none, none, none, none, 12'001'000, {}, 12'301'000, false};
    event scope;
    scope.name = 0;
    scope.thread = 0;
    made.events = {scope};
    return made;
}

TEST_CASE("a listing is the same in text, CSV and JSON") {
    listing list;
    list.columns = {{"Name", "name", cell_kind::text},
                    {"Calls", "count", cell_kind::count},
                    {"Took", "took_ns", cell_kind::time}};
    list.rows = {{std::string("a,b"), optional_ns(3), optional_ns(1'500'000)},
                 {std::string(), not_applicable(), optional_ns()}};
    CHECK(to_text(list) == "Name  Calls        Took\n"
                           "----  -----  ----------\n"
                           "a,b       3     1.500ms\n"
                           "-         -     unknown\n");
    CHECK(to_csv(list) == "name,count,took_ns\n\"a,b\",3,1500000\n,,\n");
    const json rows = parse_json(to_json(list));
    CHECK(rows[0]["took_ns"].integer() == 1'500'000);
    CHECK(rows[1]["took_ns"].is == json::kind::null);
    CHECK(rows[1]["name"].text.empty());
}

TEST_CASE("a listing is sorted by a key of numbers, unknown last, and cut") {
    listing list;
    list.columns = {{"Name", "name", cell_kind::text}, {"Took", "took_ns", cell_kind::time}};
    list.rows = {{std::string("unknown"), optional_ns()},
                 {std::string("short"), optional_ns(1)},
                 {std::string("long"), optional_ns(2)}};
    const auto sorted = arranged(list, {.sort_by = "took"});
    REQUIRE(sorted.has_value());
    CHECK(to_csv(*sorted) == "name,took_ns\nlong,2\nshort,1\nunknown,\n");
    const auto cut = arranged(list, {.sort_by = "took_ns", .row_limit = 1});
    REQUIRE(cut.has_value());
    CHECK(to_csv(*cut) == "name,took_ns\nlong,2\n");
    CHECK_FALSE(arranged(list, {.sort_by = "name"}).has_value());
    CHECK(arranged(list, {.sort_by = "x"}).error().message ==
          "cannot sort by \"x\"; one of took_ns");
}

TEST_CASE("an empty listing still has its headings") {
    listing list;
    list.columns = {{"Name", "name", cell_kind::text}};
    CHECK(to_text(list) == "Name\n----\n");
    CHECK(to_csv(list) == "name\n");
    CHECK(parse_json(to_json(list)).elements.empty());
}

TEST_CASE("of a task that is only named as a parent nothing is known") {
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

TEST_CASE("a task stands under the one that created it") {
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

TEST_CASE(
    "a task's story has its split, its awaits and its slices, and unknown where no wake was seen") {
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

TEST_CASE("tasks by spawn site have percentiles of those that ended") {
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

TEST_CASE("awaits by site name the scope around them and where they stand") {
    await_site_statistics query;
    query.site = 1;
    query.name = "db.query";
    query.times = {1, 0, 0, 11'000'000, 600'000, 0};
    query.length = {1, 5, 6, 7, 8};
    await_site_statistics unseen;
    unseen.name = "unknown";
    unseen.times = {1, 1, 0, 0, 0, 300'000};
    const std::string csv = to_csv(list_await_sites(three_tasks(), {query, unseen}));
    CHECK(csv ==
          "name,scope,count,total_ns,suspended_ns,queued_ns,waiting_ns,p50_ns,p99_ns,max_ns,"
          "unknown_wakes,"
          "unfinished,place\n"
          "db.query,handle,1,11600000,11000000,600000,0,5,7,8,0,0,examples/service/store.cpp:42\n"
          "unknown,,1,300000,,,300000,,,,1,0,\n");
}

TEST_CASE("an await that nobody saw become ready has unknown parts wherever it is listed") {
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
    CHECK(to_csv(list_await_sites(loaded, sites)).find(",1,40,,,40,,,,1,1,") != std::string::npos);
    CHECK(to_csv(list_await_chains(loaded, await_chains(loaded))).find("\n40,,,40,1,1,1,") !=
          std::string::npos);
    CHECK(to_csv(list_task_awaits(loaded, 0)).find(",,,40,40,no,") != std::string::npos);
    CHECK(to_csv(list_task_tree(loaded)).find(",2,,,40,42,") != std::string::npos);
    CHECK(to_csv(list_task_sites(loaded, task_statistics(loaded))).find(",2,,,40,42,") !=
          std::string::npos);
    CHECK(task_json(loaded, 0).find("\"suspended_ns\": null") != std::string::npos);
}

TEST_CASE("sums with parts that nobody saw say that they are the least that they can be") {
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
    CHECK(
        to_csv(list_await_chains(three_tasks(), {chain})) ==
        "total_ns,suspended_ns,queued_ns,waiting_ns,count,unknown_wakes,unfinished,place,chain\n"
        "10,10,0,0,2,0,1,examples/service/store.cpp:42,handle > unknown > query(int) > db.query\n");
}

TEST_CASE(
    "the sentence about the slowest request adds up in one unit and names where most of it went") {
    slow_request request;
    request.name = "handle";
    request.instances = 20;
    request.task = 1;
    request.start_ns = 1'500'000;
    request.wall_ns = 12'300'000;
    request.time = {400'000, 11'000'000, 600'000, 300'000};
    request_part part;
    part.kind = part_kind::await;
    part.label = "db.query";
    part.site = 1;
    part.time.suspended_ns = 11'000'000;
    request.parts = {part};
    CHECK(slow_request_sentence(three_tasks(), request) ==
          "slowest request: 12.3 ms = 0.4 ms running + 11.0 ms suspended + 0.6 ms queued + 0.3 ms "
          "waiting, "
          "most of it in db.query at examples/service/store.cpp:42 (handle, one of 20; from 1.5 ms "
          "on, "
          "task 2)");
    request.parts[0].time.suspended_ns = 5'000'000;
    CHECK(slow_request_sentence(three_tasks(), request)
              .find("waiting, the largest part in db.query at") != std::string::npos);
}

TEST_CASE("the sentence about the slowest request ends in a command that a shell takes") {
    slow_request request;
    request.task = 1;
    const auto command = [&request](std::string_view path) {
        const std::string sentence = slow_request_sentence(three_tasks(), request, path);
        const std::size_t at = sentence.find("coroscope tasks ");
        REQUIRE(at != std::string::npos);
        return sentence.substr(at);
    };
    CHECK(command("runs/trace.cst") == "coroscope tasks runs/trace.cst --task 2)");
    CHECK(command("my trace.cst") == "coroscope tasks 'my trace.cst' --task 2)");
    CHECK(command("it's; $x") == "coroscope tasks 'it'\\''s; $x' --task 2)");
    CHECK(command("-o") == "coroscope tasks ./-o --task 2)");
    CHECK(command("\x1b[31m'\xff") == "coroscope tasks $'\\x1b[31m\\x27\\xff' --task 2)");
}

TEST_CASE("sentences that add up a wall time leave out the parts of which nothing was seen") {
    trace made = three_tasks();
    slow_request request;
    request.wall_ns = 24'200'000;
    const auto says = [&](const time_split& time, const std::string& sum) {
        request.time = made.tasks[0].time = time;
        return slow_request_sentence(made, request).starts_with("slowest request: " + sum) &&
               task_text(made, 0).find("\nWall        " + sum + '\n') != std::string::npos;
    };
    CHECK(says({100'000, 0, 0, 24'100'000}, "24.2 ms = 0.1 ms running + 24.1 ms waiting"));
    CHECK(says({100'000, 0, 100'000, 24'000'000},
               "24.2 ms = 0.1 ms running + 0.1 ms queued + 24.0 ms waiting"));
    CHECK(says({24'200'000, 0, 0, 0},
               "24.2 ms = 24.2 ms running + 0.0 ms suspended + 0.0 ms queued + 0.0 ms waiting"));
}

TEST_CASE("the sentence about the slowest request says queued and running where that took most") {
    slow_request request;
    request.name = "handle";
    request.wall_ns = 1'000'000;
    request_part part;
    part.kind = part_kind::await;
    part.label = "unknown";
    part.time.queued_ns = 400'000;
    request.parts = {part};
    const auto says = [&request](const char* what) {
        return slow_request_sentence(trace(), request).find(what) != std::string::npos;
    };
    request.time = {200'000, 200'000, 600'000, 0};
    CHECK(says("waiting, most of it queued for a thread (handle, "));
    request.time = {600'000, 0, 400'000, 0};
    CHECK(says("waiting, most of it running (handle, "));
    request.time = {300'000, 400'000, 0, 300'000};
    CHECK(says("waiting, the largest part in awaits that nobody saw (handle, "));
}

TEST_CASE("what a trace holds is told with its cost and its losses") {
    trace made = three_tasks();
    CHECK(info_text(made).find("Health      nothing was lost\n") != std::string::npos);
    made.health.dropped_newest = 5;
    const std::string text = info_text(made);
    CHECK(text.find("Process     service (4242)\nStarted     2023-11-14T22:13:20Z\nDuration    "
                    "20.0 ms\n") == 0);
    CHECK(text.find("Size        4.00 KB, 4096.0 bytes per scope\n") != std::string::npos);
    CHECK(text.find("Overhead    20.5 ns per scope, 41.0 ns per await: 102 ns in all\n") !=
          std::string::npos);
    CHECK(text.find("Lost records: 5 dropped (no free chunk)\n") != std::string::npos);
    const json document = parse_json(info_json(made));
    CHECK(document["threads"][1]["dropped_newest"].integer() == 5);
    CHECK(document["unfinished_tasks"].integer() == 1);
    CHECK(document["health"]["dropped_newest"].integer() == 5);
}

TEST_CASE("tasks that nobody knows to be alive at the end are counted by themselves") {
    trace made = three_tasks();
    CHECK(info_text(made).find("\nTasks       3, 1 alive at the end\n") != std::string::npos);
    made.tasks.resize(5);
    made.tasks[3].id = 4;  // only named, as somebody's parent
    made.tasks[4].id = 5;
    made.tasks[4].spawn_ns = 1'000;
    made.tasks[4].state = task_state::unknown;
    CHECK(info_text(made).find("\nTasks       5, 1 alive at the end, 2 in an unknown state\n") !=
          std::string::npos);
    const json document = parse_json(info_json(made));
    CHECK(document["unfinished_tasks"].integer() == 1);
    CHECK(document["unknown_tasks"].integer() == 2);
}

TEST_CASE("the summary of an empty trace says that nothing was recorded") {
    CHECK(summary(trace()) ==
          "Nothing was recorded: no scope and no task ran while the session did.\n");
}

TEST_CASE("the summary leads from the table over tasks and awaits to the slowest request and the "
          "losses") {
    trace made = three_tasks();
    made.events[0].end_ns = 400'000;
    made.events[0].self_running_ns = 400'000;
    made.health.overwritten = 2;
    const std::string text = summary(made);
    std::size_t last = 0;
    for (const std::string part :
         {"Self CPU time total: ", "\nTasks by spawn site\n", "\nWhere tasks waited\n",
          "\nslowest request: ", "\nLost records: 2 overwritten\n"}) {
        CAPTURE(part);
        const std::size_t found = text.find(part, last);
        REQUIRE(found != std::string::npos);
        last = found;
    }
}

TEST_CASE("the summary says of each of its lists that it was cut, and by what") {
    trace made = three_tasks();
    made.events.push_back(made.events[0]);
    made.strings.push_back("other");
    made.events[1].name = 1;
    const auto says = [&made](const std::string& what, std::int64_t rows) {
        return summary(made, {.table_rows = rows, .task_rows = rows, .await_rows = rows})
                   .find(what) != std::string::npos;
    };
    CHECK(says("\nScopes: the first 1 of 2, by wall time\n", 1));
    CHECK(says("\nTasks by spawn site (the first 1 of 3, by wall time)\n", 1));
    CHECK(says("\nWhere tasks waited (the first 1 of 2, by total time)\n", 1));
    for (const std::int64_t all : {std::int64_t{3}, std::int64_t{-1}})
        CHECK_FALSE(says("the first ", all));
}

}  // namespace
