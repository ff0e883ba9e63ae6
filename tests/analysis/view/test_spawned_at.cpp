// SPDX-License-Identifier: Apache-2.0
// The places of the calls that spawned tasks, in the views of tasks.

#include <doctest/doctest.h>

#include <coroscope/analysis/views.hpp>

#include "../../support/json.hpp"
#include "../three_tasks.hpp"

using namespace coroscope_tests;
using namespace coroscope::analysis;

namespace {

bool shows(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// Three tasks of one coroutine: two were spawned in line 40, through two copies of the call.
trace spawned_tasks() {
    trace made = three_tasks();
    made.spawn_places = {{0, 1, 2, "serve", "src/server.cpp", 40},
                         {0, 3, 4, "serve", "src/server.cpp", 40},
                         {0, 5, 6, "main", "", 0}};
    for (std::uint32_t at = 0; at < 3; ++at) {
        made.tasks[at].spawn_site = 0;
        made.tasks[at].spawn_place = at;
    }
    return made;
}

}  // namespace

TEST_CASE("a coroutine's row has the place that spawned most of its tasks, and counts the others") {
    const trace made = spawned_tasks();
    const auto statistics = task_statistics(made);
    REQUIRE(statistics.size() == 1);
    CHECK(statistics[0].spawn_place == 0);
    CHECK(statistics[0].spawn_place_count == 2);
    CHECK(statistics[0].further_places == 1);
    const std::string sites = to_csv(list_task_sites(made, statistics));
    CHECK(shows(sites, ",place,spawned_at\n"));
    CHECK(shows(sites, "src/server.cpp:40 and 1 other place\n"));
}

TEST_CASE("copies of a call without a known file are one place by the name of their function") {
    trace made = spawned_tasks();
    const std::string longer_than_short_strings = "service::connections::serve_until_closed";
    for (auto& each : made.spawn_places) {
        each.file = "";
        each.line = 0;
        each.function = longer_than_short_strings;
    }
    made.spawn_places[1].function = "service::connections::serve_until_opened";
    const auto statistics = task_statistics(made);
    REQUIRE(statistics.size() == 1);
    CHECK(statistics[0].spawn_place == 0);
    CHECK(statistics[0].spawn_place_count == 2);
    CHECK(statistics[0].further_places == 1);
}

TEST_CASE("a task has the place of its spawn beside its coroutine's own") {
    trace made = spawned_tasks();
    CHECK(shows(task_text(made, 1), "\nAt          src/server.cpp:12\n"
                                    "Spawned at  src/server.cpp:40\n"));
    CHECK(shows(task_text(made, 2), "\nSpawned at  in main\n"));
    CHECK(shows(to_csv(list_task_tree(made)), "src/server.cpp:12,src/server.cpp:40\n"));
    made.tasks[1].spawn_place = none;
    CHECK(shows(task_text(made, 1), "\nSpawned at  unknown\n"));
    CHECK(shows(task_json(made, 1), "\"spawned_at\": null"));
    CHECK(shows(task_json(made, 2), "\"spawned_at\": \"in main\""));
}

TEST_CASE("no column has places of spawns if none is known") {
    trace made = spawned_tasks();
    for (auto& each : made.spawn_places) each.file = each.function = "";
    CHECK_FALSE(shows(to_csv(list_task_tree(made)), "spawned_at"));
    CHECK_FALSE(shows(to_csv(list_task_sites(made, task_statistics(made))), "spawned_at"));
}
