// SPDX-License-Identifier: Apache-2.0

// Averages of event lists, rule by rule.

#include <coroscope/analysis/averages.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../event_lists.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope::test::built;
using coroscope::test::find;

std::string names_of(const std::vector<function_event_avg>& rows) {
    std::string names;
    for (const auto& row : rows) names.append(row.name).append(" ");
    return names;
}

TEST_CASE("an average may add itself: 5 + 10, then itself, gives count 4, total 30, average 7.5") {
    const event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 5'000},
                                   {.name = "a", .start_ns = 10'000, .end_ns = 20'000}});
    function_event_avg sum;
    for (const function_event each : list) CHECK(sum.add(each));
    CHECK(sum.add(sum));
    CHECK(sum.count == 4);
    CHECK(sum.cpu_time_total_ns == 30'000);
    CHECK(sum.self_cpu_time_total_ns == 30'000);
    CHECK(sum.cpu_time_ns() == 7'500);
    CHECK(sum.min_wall_ns == 5'000);
    CHECK(sum.max_wall_ns == 10'000);
}

TEST_CASE("an average refuses an event of another key, and stays as it is") {
    const event_list list = built(
        {{.name = "a", .start_ns = 0, .end_ns = 5}, {.name = "b", .start_ns = 6, .end_ns = 7}});
    function_event_avg sum;
    CHECK(sum.add(find(list, "a")));
    CHECK_FALSE(sum.add(find(list, "b")));
    function_event_avg other;
    CHECK(other.add(find(list, "b")));
    CHECK_FALSE(sum.add(other));
    CHECK(sum.count == 1);
    CHECK(sum.cpu_time_total_ns == 5);
}

TEST_CASE("the average of no event is 0") {
    CHECK(function_event_avg{}.cpu_time_ns() == 0);
    CHECK(function_event_avg{}.device_time_ns() == 0);
}

TEST_CASE("rows come in the order in which their keys first appear, and add up their events") {
    const event_list list = built({{.name = "p", .start_ns = 0, .end_ns = 100},
                                   {.name = "c", .start_ns = 10, .end_ns = 20},
                                   {.name = "c", .start_ns = 30, .end_ns = 45},
                                   {.name = "q", .start_ns = 0, .end_ns = 7, .thread = 2}});
    const auto rows = key_averages(list);
    REQUIRE(names_of(rows) == "p q c ");
    CHECK(rows[2].count == 2);
    CHECK(rows[2].cpu_time_total_ns == 25);
    CHECK(rows[0].self_cpu_time_total_ns == 75);
    CHECK(rows[2].has_parent);
    CHECK_FALSE(rows[0].has_parent);
    CHECK(self_cpu_time_total_ns(list) == 107);
    CHECK(total_average(list).count == 4);
    CHECK(total_average(list).name == "Total");
    CHECK(total_average(list).self_cpu_time_total_ns == 107);
}

TEST_CASE("keys: rows of one name differ by node, kind and device") {
    const event_list list =
        built({{.name = "a", .start_ns = 0, .end_ns = 1},
               {.name = "a", .start_ns = 2, .end_ns = 3, .node_id = 7},
               {.name = "a", .start_ns = 4, .end_ns = 5, .what = activity::user_annotation},
               {.name = "a", .start_ns = 6, .end_ns = 7, .what = activity::kernel},
               {.name = "a", .start_ns = 8, .end_ns = 9}});
    const auto rows = key_averages(list);
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].count == 2);
    CHECK(rows[1].node_id == 7);
    CHECK(rows[2].is_user_annotation);
    CHECK(rows[2].category == "user_annotation");
    CHECK(rows[3].device == device_kind::cuda);
}

TEST_CASE("grouping: rows differ by shapes, overloads or first stack frames on request only") {
    const event_list list = built(
        {{.name = "mm",
          .start_ns = 0,
          .end_ns = 1,
          .stack = "a\nb\nc",
          .input_shapes = "[[2]]",
          .overload_name = "out"},
         {.name = "mm", .start_ns = 2, .end_ns = 3, .stack = "a\nb\nd", .input_shapes = "[[3]]"},
         {.name = "mm",
          .start_ns = 4,
          .end_ns = 5,
          .stack = "x",
          .input_shapes = "[[3]]",
          .overload_name = "out"}});
    const auto plain = key_averages(list);
    REQUIRE(plain.size() == 1);
    CHECK(plain[0].input_shapes.empty());
    CHECK(plain[0].stack.empty());
    const auto by_shape = key_averages(list, {.by_input_shape = true});
    REQUIRE(by_shape.size() == 2);
    CHECK(by_shape[1].input_shapes == "[[3]]");
    CHECK(by_shape[1].count == 2);
    CHECK(key_averages(list, {.by_overload_name = true}).size() == 2);
    const auto by_two = key_averages(list, {.stack_frames = 2});
    REQUIRE(by_two.size() == 2);
    CHECK(by_two[0].stack == "a\nb");
    CHECK(by_two[0].count == 2);
    CHECK(key_averages(list, {.stack_frames = 3}).size() == 3);
    CHECK(key_averages(list, {.stack_frames = 9})[0].stack == "a\nb\nc");
}

TEST_CASE("grouping by thread gives a name one row per thread") {
    const event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 1, .thread = 1},
                                   {.name = "a", .start_ns = 0, .end_ns = 2, .thread = 2},
                                   {.name = "a", .start_ns = 3, .end_ns = 4, .thread = 1}});
    const auto rows = key_averages(list, {.by_thread = true});
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].cpu_time_total_ns == 2);
    CHECK(rows[1].cpu_time_total_ns == 2);
}

TEST_CASE(
    "selections: rows of the CPU, rows of devices, or all rows with the annotations of devices") {
    const event_list list = built(
        {{.name = "op", .start_ns = 0, .end_ns = 10, .external_id = 1},
         {.name = "py", .start_ns = 0, .end_ns = 10, .what = activity::python_function},
         {.name = "call", .start_ns = 1, .end_ns = 2, .what = activity::runtime},
         {.name = "k", .start_ns = 3, .end_ns = 9, .what = activity::kernel, .external_id = 1},
         {.name = "set", .start_ns = 9, .end_ns = 10, .what = activity::gpu_memset},
         {.name = "mark", .start_ns = 0, .end_ns = 50, .what = activity::gpu_user_annotation}});
    CHECK(names_of(key_averages(list, {.select = event_selection::cpu})) == "op call ");
    CHECK(names_of(key_averages(list, {.select = event_selection::device})) == "k set ");
    CHECK(names_of(key_averages(list)) == "mark op call k set ");
    CHECK(self_device_time_total_ns(list) == 7);
    CHECK(self_cpu_time_total_ns(list) == 10);
}

TEST_CASE("rows of one name in a trace of other kinds differ by the file's categories") {
    event_list list;
    for (const char* category : {"http", "db", "http"}) {
        const auto index =
            add_event(list, {.name = "get", .start_ns = 0, .end_ns = 1, .what = activity::other});
        list.rows[index].category = list.intern(category);
        list.rows[index].start_ns = index;
        list.rows[index].end_ns = index + 1;
    }
    build_tree(list);
    const auto rows = key_averages(list, {.select = event_selection::cpu});
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].category == "http");
    CHECK(rows[0].count == 2);
}

TEST_CASE("sums that exceed 64 bits stay at the largest figure") {
    constexpr std::int64_t most = INT64_MAX;
    event_list list;
    for (const char* name : {"a", "b", "c"})
        add_event(list, {.name = name, .start_ns = -most, .end_ns = most, .cpu_memory = most});
    for (int times = 0; times < 3; ++times)
        add_event(
            list,
            {.name = "a", .start_ns = -most, .end_ns = most, .thread = 2 + std::uint64_t(times)});
    memory_record record;
    record.thread = list.lane("1", "1");
    record.bytes = INT64_MIN;
    list.memory = {record, record, record};
    build_tree(list);
    for (const auto& row : key_averages(list)) CHECK(row.cpu_time_total_ns > most / 2);
    CHECK(total_average(list).cpu_time_total_ns == most);
    CHECK(self_cpu_time_total_ns(list) > 0);
}

TEST_CASE("memory and FLOPs of a row's events add up") {
    event_list list;
    add_event(list, {.name = "a",
                     .start_ns = 0,
                     .end_ns = 1,
                     .cpu_memory = 64,
                     .device_memory = -8,
                     .flops = 1e3});
    add_event(list, {.name = "a", .start_ns = 2, .end_ns = 3, .cpu_memory = -16, .flops = 2e3});
    build_tree(list);
    const auto rows = key_averages(list);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].cpu_memory_usage == 48);
    CHECK(rows[0].self_cpu_memory_usage == 48);
    CHECK(rows[0].device_memory_usage == -8);
    CHECK(rows[0].flops == 3e3);
}

}  // namespace
