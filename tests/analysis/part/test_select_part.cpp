// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/select_part.hpp>

#include <algorithm>
#include <vector>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/load.hpp>
#include <doctest/doctest.h>

#include "part_traces.hpp"

namespace {

using namespace coroscope;
using coroscope_tests::part_of;
using coroscope_tests::served_requests;
using coroscope_tests::whole_of;

analysis::time_split sum_of_tasks(const analysis::trace& loaded) {
    analysis::time_split sum;
    for (const analysis::task_info& each : loaded.tasks) sum.add(each.time);
    return sum;
}

analysis::time_split sum_of_awaits(const analysis::trace& loaded) {
    analysis::time_split sum;
    for (const analysis::await_info& each : loaded.awaits)
        sum.add(analysis::split_of(loaded, each));
    return sum;
}

struct scope_sums {
    std::int64_t running_ns = 0, self_ns = 0, suspended_ns = 0, queued_ns = 0, wall_ns = 0;
    bool operator==(const scope_sums&) const = default;
};

scope_sums sum_of_scopes(const analysis::trace& loaded) {
    scope_sums sum;
    for (const analysis::event& each : loaded.events) {
        const std::int64_t wall_ns = each.end_ns - each.start_ns;
        analysis::time_split time{.running_ns = wall_ns};
        if (each.detail != analysis::none) time = loaded.details[each.detail].time;
        sum.running_ns += time.running_ns;
        sum.self_ns += each.self_running_ns;
        sum.suspended_ns += time.suspended_ns;
        sum.queued_ns += time.queued_ns;
        sum.wall_ns += wall_ns;
    }
    return sum;
}

void check_equal(const analysis::time_split& one, const analysis::time_split& other) {
    CHECK_EQ(one.running_ns, other.running_ns);
    CHECK_EQ(one.suspended_ns, other.suspended_ns);
    CHECK_EQ(one.queued_ns, other.queued_ns);
    CHECK_EQ(one.waiting_ns, other.waiting_ns);
}

}  // namespace

TEST_CASE(
    "the times of two parts that touch add up to those of the whole, wherever the border is") {
    const analysis::trace whole = whole_of(served_requests());
    for (std::int64_t border = 5; border < whole.duration_ns; border += 5) {
        CAPTURE(border);
        const analysis::trace first = part_of(whole, 0, border);
        const analysis::trace second = part_of(whole, border, whole.duration_ns);
        analysis::time_split tasks = sum_of_tasks(first);
        tasks.add(sum_of_tasks(second));
        check_equal(tasks, sum_of_tasks(whole));
        analysis::time_split awaits = sum_of_awaits(first);
        awaits.add(sum_of_awaits(second));
        check_equal(awaits, sum_of_awaits(whole));
        const scope_sums one = sum_of_scopes(first), other = sum_of_scopes(second);
        CHECK((scope_sums{one.running_ns + other.running_ns, one.self_ns + other.self_ns,
                          one.suspended_ns + other.suspended_ns, one.queued_ns + other.queued_ns,
                          one.wall_ns + other.wall_ns} == sum_of_scopes(whole)));
    }
}

TEST_CASE("a part counts each scope that it touches once, and marks scopes that cross its border") {
    const analysis::trace part = part_of(whole_of(served_requests()), 250, 600);
    CHECK_EQ(part.duration_ns, 350);
    CHECK_EQ(part.health.part.from_ns, 250);
    CHECK_EQ(part.health.part.to_ns, 600);
    CHECK_EQ(part.health.part.whole_ns, 2000);
    CHECK_GT(part.health.part.cut_scopes, 0U);
    CHECK_GT(part.health.part.cut_tasks, 0U);
    for (const analysis::event& each : part.events) {
        CHECK_GE(each.start_ns, 0);
        CHECK_LE(each.end_ns, 350);
    }
}

TEST_CASE("a task that is suspended at the end of a part is unfinished in it") {
    // task 7 is suspended from 300 to 700, its wake is at 500
    const auto state_at = [](std::int64_t to) {
        const analysis::trace part = part_of(whole_of(served_requests()), 0, to);
        const auto task = std::ranges::find(part.tasks, 7U, &analysis::task_info::id);
        REQUIRE(task != part.tasks.end());
        CHECK_FALSE((*task).end_ns.has_value());
        return (*task).state;
    };
    CHECK(state_at(250) == analysis::task_state::running);
    CHECK(state_at(400) == analysis::task_state::suspended);
    CHECK(state_at(600) == analysis::task_state::queued);
}

TEST_CASE("a part of a part has the same times as the part itself") {
    const analysis::trace whole = whole_of(served_requests());
    const analysis::trace direct = part_of(whole, 300, 600);
    const analysis::trace nested = part_of(part_of(whole, 200, 900), 100, 400);
    check_equal(sum_of_tasks(nested), sum_of_tasks(direct));
    CHECK((sum_of_scopes(nested) == sum_of_scopes(direct)));
    CHECK_EQ(nested.health.part.from_ns, 300);
    CHECK_EQ(nested.health.part.to_ns, 600);
    CHECK_EQ(nested.health.part.whole_ns, 2000);
}

TEST_CASE("a part that begins after the trace, or has no time, fails") {
    const analysis::trace whole = whole_of(served_requests());
    CHECK_FALSE(analysis::select_part(whole, {.from_ns = 3000}));
    CHECK_FALSE(analysis::select_part(whole, {.from_ns = 500, .to_ns = 500}));
}

TEST_CASE("conditions select work by its name, with all below it and nothing else") {
    const analysis::trace whole = whole_of(served_requests());
    const auto where = analysis::read_work_conditions("name=parse*");
    REQUIRE(where);
    const auto part = analysis::select_part(whole, {.where = *where});
    REQUIRE(part);
    REQUIRE_FALSE(part->events.empty());
    for (const analysis::event& each : part->events)
        CHECK((part->strings[each.name] == "parse" || part->strings[each.name] == "split"));
    CHECK(part->awaits.empty());
    CHECK_EQ(part->duration_ns, whole.duration_ns);
    CHECK_EQ(part->health.part.where, "name=parse*");
}

TEST_CASE("conditions select a task with the tasks that it spawned") {
    const auto where = analysis::read_work_conditions("name=handle");
    REQUIRE(where);
    const auto part = analysis::select_part(whole_of(served_requests()), {.where = *where});
    REQUIRE(part);
    std::vector<std::uint64_t> ids;
    for (const analysis::task_info& each : part->tasks) ids.push_back(each.id);
    CHECK_EQ(ids, std::vector<std::uint64_t>{7, 8});
}

TEST_CASE("times of parts are read exactly") {
    CHECK_EQ(*analysis::read_part_time("1.5s"), 1'500'000'000);
    CHECK_EQ(*analysis::read_part_time("20ms"), 20'000'000);
    CHECK_EQ(*analysis::read_part_time("0.001us"), 1);
    CHECK_EQ(*analysis::read_part_time("7ns"), 7);
    for (const char* const wrong : {"", "5", "s", "-1s", "1.s", ".5s", "1.5ns", "1e3s", "1 s",
                                    "99999999999s", "1.0000000001s"})
        CHECK_FALSE(analysis::read_part_time(wrong));
}

TEST_CASE("conditions are read word by word, and a wrong one is refused") {
    const auto where = analysis::read_work_conditions(" name=db.*  attr:tenant=7 ");
    REQUIRE(where);
    REQUIRE_EQ(where->size(), 2U);
    CHECK_EQ((*where)[0].attribute, "");
    CHECK_EQ((*where)[0].pattern, "db.*");
    CHECK_EQ((*where)[1].attribute, "tenant");
    CHECK_EQ((*where)[1].pattern, "7");
    for (const char* const wrong : {"", " ", "name", "attr:=7", "label=x", "=x"})
        CHECK_FALSE(analysis::read_work_conditions(wrong));
}

TEST_CASE("patterns of conditions can have spaces") {
    const auto where = analysis::read_work_conditions("name=GET /item  *v attr:tenant=a b");
    REQUIRE(where);
    REQUIRE_EQ(where->size(), 2U);
    CHECK_EQ((*where)[0].pattern, "GET /item *v");
    CHECK_EQ((*where)[1].attribute, "tenant");
    CHECK_EQ((*where)[1].pattern, "a b");
    CHECK_FALSE(analysis::read_work_conditions("name=GET /item?id=1"));
}

TEST_CASE("percentiles of a row are those of its whole calls") {
    analysis::trace whole = whole_of(served_requests());
    const analysis::trace part = part_of(whole, 0, 250);
    std::vector<analysis::function_event_avg> rows = analysis::key_averages(whole);
    analysis::add_percentiles(rows, whole);
    for (const analysis::function_event_avg& row : rows) {
        REQUIRE(row.wall_percentiles.has_value());
        CHECK_EQ(row.wall_percentiles->count, row.count);
        CHECK_EQ(row.wall_percentiles->max_ns, row.max_wall_ns);
    }
    std::vector<analysis::function_event_avg> cut = analysis::key_averages(part);
    analysis::add_percentiles(cut, part);
    bool any_cut = false;
    for (const analysis::function_event_avg& row : cut)
        any_cut |= row.wall_percentiles->count < row.count;
    CHECK(any_cut);
}
