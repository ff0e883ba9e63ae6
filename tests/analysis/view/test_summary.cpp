// SPDX-License-Identifier: Apache-2.0

// The info about a trace, the sentence about its slowest request, and the summary, from models made
// by hand.

#include <coroscope/analysis/views.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../support/json.hpp"
#include "../three_tasks.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope_tests::json;
using coroscope_tests::parse_json;
using coroscope_tests::three_tasks;

TEST_CASE(
    "the sentence about the slowest request adds up in one unit, and names its largest await") {
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

TEST_CASE("the sentence about the slowest request ends in a command that a shell accepts") {
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

TEST_CASE("sentences that add up a wall time leave out its unknown parts") {
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

TEST_CASE("the sentence about the slowest request names queued, running or unseen awaits if they "
          "took most") {
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
    CHECK(says("waiting, the largest part in unseen awaits (handle, "));
}

TEST_CASE("info shows the contents of a trace, its cost and its losses") {
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

TEST_CASE("tasks in an unknown state are counted apart from tasks alive at the end") {
    trace made = three_tasks();
    CHECK(info_text(made).find("\nTasks       3, 1 alive at the end\n") != std::string::npos);
    made.tasks.resize(5);
    made.tasks[3].id = 4;  // only named, as a parent
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
    trace begun;
    begun.health.being_recorded = true;
    CHECK(summary(begun).starts_with("Nothing is in the trace yet: "));
}

TEST_CASE("a limit with all bits set is shown as a size") {
    trace made;
    made.limit_bytes = ~std::uint64_t{0};
    CHECK(info_text(made).find("\nLimit       8589934592.00 GB\n") != std::string::npos);
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
         {"Self running time total: ", "\nTasks by spawn site\n", "\nWhere tasks waited\n",
          "\nslowest request: ", "\nLost records: 2 overwritten\n"}) {
        CAPTURE(part);
        const std::size_t found = text.find(part, last);
        REQUIRE(found != std::string::npos);
        last = found;
    }
}

TEST_CASE(
    "the summary says of each shortened list that it was cut, and by which figure it is sorted") {
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
