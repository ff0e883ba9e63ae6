// SPDX-License-Identifier: Apache-2.0

// torch's tree of events, rule by rule.

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/function_event.hpp>

#include <doctest/doctest.h>

#include <string>

#include "../event_lists.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope::test::built;
using coroscope::test::find;
using coroscope::test::parent_of;

TEST_CASE("tree vector: among the events of two threads only one lies in another") {
    const event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 1, .thread = 1},
                                   {.name = "b", .start_ns = 1, .end_ns = 2, .thread = 1},
                                   {.name = "c", .start_ns = 0, .end_ns = 2, .thread = 0},
                                   {.name = "d", .start_ns = 1, .end_ns = 2, .thread = 0},
                                   {.name = "e", .start_ns = 1, .end_ns = 3, .thread = 0}});
    for (const char* root : {"a", "b", "c", "e"}) CHECK(parent_of(list, root).empty());
    CHECK(parent_of(list, "d") == "e");
    CHECK(find(list, "e").self_cpu_time_total_ns() == 1);
}

TEST_CASE("closed containment: a child may begin and end with its parent") {
    const event_list list = built({{.name = "p", .start_ns = 0, .end_ns = 10},
                                   {.name = "first", .start_ns = 0, .end_ns = 4},
                                   {.name = "last", .start_ns = 7, .end_ns = 10}});
    CHECK(parent_of(list, "first") == "p");
    CHECK(parent_of(list, "last") == "p");
    CHECK(find(list, "p").self_cpu_time_total_ns() == 3);
    CHECK(find(list, "p").cpu_children().size() == 2);
}

TEST_CASE("self time: a parent has the time that none of its overlapping children covers") {
    const event_list list = built({{.name = "p", .start_ns = 0, .end_ns = 20},
                                   {.name = "one", .start_ns = 0, .end_ns = 18},
                                   {.name = "other", .start_ns = 2, .end_ns = 19}});
    CHECK(parent_of(list, "one") == "p");
    CHECK(parent_of(list, "other") == "p");
    CHECK(find(list, "p").self_cpu_time_total_ns() == 1);
}

TEST_CASE("an event nested in one of its name is folded and counted in torch's traces only") {
    const auto recursion = [](activity what) {
        return built({{.name = "f", .start_ns = 0, .end_ns = 10, .what = what},
                      {.name = "f", .start_ns = 2, .end_ns = 6, .what = what}});
    };
    const event_list torch = recursion(activity::cpu_op);
    CHECK(torch.size() == 1);
    CHECK(torch.folded_events == 1);
    const event_list others = recursion(activity::other);
    CHECK(others.size() == 2);
    CHECK(others.folded_events == 0);
    CHECK(find(others, "f").self_cpu_time_total_ns() == 6);
    const auto rows = key_averages(others);
    CHECK(rows.size() == 1);
    CHECK(rows[0].count == 2);
    CHECK(rows[0].cpu_time_total_ns == 10);
    CHECK(rows[0].self_cpu_time_total_ns == 10);
}

TEST_CASE("ties: of identical intervals the earlier in the list is the parent") {
    const event_list list = built(
        {{.name = "t1", .start_ns = 2, .end_ns = 6}, {.name = "t2", .start_ns = 2, .end_ns = 6}});
    CHECK(parent_of(list, "t2") == "t1");
    CHECK(parent_of(list, "t1").empty());
    CHECK(find(list, "t1").self_cpu_time_total_ns() == 0);
}

TEST_CASE("zero length: identical moments are no parents of each other") {
    const event_list list = built(
        {{.name = "z1", .start_ns = 5, .end_ns = 5}, {.name = "z2", .start_ns = 5, .end_ns = 5}});
    CHECK(parent_of(list, "z1").empty());
    CHECK(parent_of(list, "z2").empty());
}

TEST_CASE("zero length: an event at its parent's start is a child, an event at its end is not") {
    const event_list list = built({{.name = "p", .start_ns = 0, .end_ns = 10},
                                   {.name = "at start", .start_ns = 0, .end_ns = 0},
                                   {.name = "at end", .start_ns = 10, .end_ns = 10}});
    CHECK(parent_of(list, "at start") == "p");
    CHECK(parent_of(list, "at end").empty());
}

TEST_CASE("partial overlap: the events are unrelated, and the earlier one gets no more children") {
    const event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 10},
                                   {.name = "b", .start_ns = 5, .end_ns = 15},
                                   {.name = "c", .start_ns = 6, .end_ns = 9},
                                   {.name = "d", .start_ns = 12, .end_ns = 14}});
    CHECK(parent_of(list, "b").empty());
    CHECK(parent_of(list, "c") == "b");
    CHECK(parent_of(list, "d") == "b");
    CHECK(find(list, "a").self_cpu_time_total_ns() == 10);
    CHECK(find(list, "b").self_cpu_time_total_ns() == 5);
}

TEST_CASE("threads of two processes and of two nodes do not mix") {
    const event_list list = built({{.name = "p", .start_ns = 0, .end_ns = 10},
                                   {.name = "other", .start_ns = 1, .end_ns = 2, .process = 2},
                                   {.name = "far", .start_ns = 1, .end_ns = 2, .node_id = 3}});
    CHECK(parent_of(list, "other").empty());
    CHECK(parent_of(list, "far").empty());
    CHECK(find(list, "far").node_id() == 3);
}

TEST_CASE(
    "order: events are sorted by start, the longer first, in whatever order they were added") {
    const event_list list = built({{.name = "late", .start_ns = 5, .end_ns = 6},
                                   {.name = "short", .start_ns = 0, .end_ns = 1},
                                   {.name = "long", .start_ns = 0, .end_ns = 9},
                                   {.name = "middle", .start_ns = 2, .end_ns = 3}});
    std::string names;
    for (const function_event each : list) names.append(each.name()).append(" ");
    CHECK(names == "long short middle late ");
    for (const char* child : {"short", "middle", "late"}) CHECK(parent_of(list, child) == "long");
}

TEST_CASE("async rule: a total, but no parent, no children, and no self or device time") {
    const event_list list = built(
        {{.name = "p", .start_ns = 0, .end_ns = 100},
         {.name = "async", .start_ns = 10, .end_ns = 90, .is_async = true, .external_id = 5},
         {.name = "c", .start_ns = 20, .end_ns = 30},
         {.name = "k", .start_ns = 25, .end_ns = 28, .what = activity::kernel, .external_id = 5}});
    const function_event async = find(list, "async");
    CHECK(parent_of(list, "async").empty());
    CHECK(parent_of(list, "c") == "p");
    CHECK(async.cpu_time_total_ns() == 80);
    CHECK(async.self_cpu_time_total_ns() == 0);
    CHECK(async.device_time_total_ns() == 0);
    CHECK(async.kernels().empty());
    CHECK_FALSE(find(list, "k").cpu_parent().has_value());
    CHECK(async.cpu_children().empty());
    CHECK(find(list, "p").self_cpu_time_total_ns() == 90);
}

TEST_CASE("async rule: an event that ends on another thread is asynchronous") {
    event_list list;
    add_event(list, {.name = "p", .start_ns = 0, .end_ns = 100});
    const std::uint32_t hop = add_event(list, {.name = "hop", .start_ns = 1, .end_ns = 9});
    list.extra_of(list.rows[hop]).end_thread = list.lane("1", "2");
    build_tree(list);
    CHECK(find(list, "hop").is_async());
    CHECK(parent_of(list, "hop").empty());
}

TEST_CASE("duplicates: an only child of its parent's name is folded, down the whole chain") {
    const event_list list = built({{.name = "mm", .start_ns = 0, .end_ns = 100},
                                   {.name = "mm", .start_ns = 1, .end_ns = 99},
                                   {.name = "mm", .start_ns = 2, .end_ns = 98},
                                   {.name = "x", .start_ns = 3, .end_ns = 13},
                                   {.name = "y", .start_ns = 20, .end_ns = 40}});
    REQUIRE(list.size() == 3);
    CHECK(parent_of(list, "x") == "mm");
    CHECK(parent_of(list, "y") == "mm");
    CHECK(find(list, "mm").time_range() == interval{0, 100});
    CHECK(find(list, "mm").self_cpu_time_total_ns() == 70);
}

TEST_CASE("duplicates: with a sibling, or under another name, an event stays") {
    CHECK(built({{.name = "a", .start_ns = 0, .end_ns = 9},
                 {.name = "a", .start_ns = 1, .end_ns = 2},
                 {.name = "b", .start_ns = 3, .end_ns = 4}})
              .size() == 3);
    CHECK(built({{.name = "a", .start_ns = 0, .end_ns = 9},
                 {.name = "b", .start_ns = 1, .end_ns = 2}})
              .size() == 2);
}

TEST_CASE("duplicates: children that a parent takes over are not folded if there are several") {
    const event_list list = built({{.name = "mm", .start_ns = 0, .end_ns = 100},
                                   {.name = "mm", .start_ns = 1, .end_ns = 99},
                                   {.name = "mm", .start_ns = 3, .end_ns = 13},
                                   {.name = "mm", .start_ns = 20, .end_ns = 40}});
    REQUIRE(list.size() == 3);
    CHECK(find(list, "mm").time_range() == interval{0, 100});
    CHECK(find(list, "mm").cpu_children().size() == 2);
    CHECK(find(list, "mm").self_cpu_time_total_ns() == 70);
}

TEST_CASE("duplicates: the parent takes over the kernels of its folded child") {
    const event_list list = built(
        {{.name = "mm", .start_ns = 0, .end_ns = 9},
         {.name = "mm", .start_ns = 1, .end_ns = 8, .external_id = 7},
         {.name = "k", .start_ns = 20, .end_ns = 25, .what = activity::kernel, .external_id = 7}});
    REQUIRE(find(list, "mm").kernels().size() == 1);
    CHECK(find(list, "mm").self_device_time_total_ns() == 5);
}

TEST_CASE("devices: an operation's own time is its kernels', and its total adds its children's") {
    const event_list list = built(
        {{.name = "linear", .start_ns = 0, .end_ns = 100, .external_id = 1},
         {.name = "mm", .start_ns = 10, .end_ns = 90, .external_id = 2},
         {.name = "launch",
          .start_ns = 20,
          .end_ns = 30,
          .what = activity::runtime,
          .external_id = 2},
         {.name = "k1", .start_ns = 50, .end_ns = 60, .what = activity::kernel, .external_id = 2},
         {.name = "copy",
          .start_ns = 300,
          .end_ns = 303,
          .what = activity::gpu_memcpy,
          .external_id = 1},
         {.name = "mark",
          .start_ns = 0,
          .end_ns = 400,
          .what = activity::gpu_user_annotation,
          .external_id = 1}});
    CHECK(find(list, "linear").device_time_total_ns() == 13);
    CHECK(find(list, "linear").self_device_time_total_ns() == 3);
    CHECK(find(list, "mm").device_time_total_ns() == 10);
    REQUIRE(find(list, "linear").kernels().size() == 1);
    CHECK(find(list, "linear").kernels()[0].name == "copy");
    REQUIRE(find(list, "mm").kernels().size() == 1);
    CHECK(find(list, "mm").kernels()[0].name == "k1");
    CHECK(find(list, "launch").kernels().empty());
    CHECK(find(list, "k1").device_time_total_ns() == 10);
    CHECK(find(list, "k1").cpu_time_total_ns() == 0);
    CHECK(parent_of(list, "launch") == "mm");
    CHECK(find(list, "mm").self_cpu_time_total_ns() == 70);
}

TEST_CASE("devices: a kernel without an external id belongs to the caller of its runtime call") {
    event_list list;
    add_event(list, {.name = "op", .start_ns = 0, .end_ns = 50});
    const auto call = add_event(
        list, {.name = "launch", .start_ns = 10, .end_ns = 20, .what = activity::runtime});
    const auto ran =
        add_event(list, {.name = "k", .start_ns = 30, .end_ns = 44, .what = activity::kernel});
    list.rows[call].correlation = list.rows[ran].correlation = 9;
    build_tree(list);
    CHECK(find(list, "op").self_device_time_total_ns() == 14);
    CHECK(find(list, "launch").device_time_total_ns() == 0);
}

TEST_CASE(
    "devices: half a million kernels of one external id belong to the first operation of the id") {
    constexpr std::uint32_t many = 500'000;
    event_list list;
    for (std::uint32_t at = 0; at < many; ++at) {
        const std::int64_t start = at * std::int64_t{10};
        add_event(list, {.name = "op", .start_ns = start, .end_ns = start + 5, .external_id = 7});
        add_event(list, {.name = "k",
                         .start_ns = start,
                         .end_ns = start + 1,
                         .what = activity::kernel,
                         .external_id = 7});
    }
    build_tree(list);
    CHECK(find(list, "op").kernels().size() == many);
}

memory_record record(event_list& list, std::int64_t time_ns, std::int64_t bytes) {
    memory_record made;
    made.time_ns = time_ns;
    made.bytes = bytes;
    made.thread = list.lane("1", "1");
    return made;
}

TEST_CASE("memory: records at both ends of an event count for the event and for its parents") {
    event_list list;
    add_event(list, {.name = "p", .start_ns = 0, .end_ns = 100});
    add_event(list, {.name = "c", .start_ns = 10, .end_ns = 20});
    for (const auto& [time_ns, bytes] : {std::pair{10, 1}, {20, 10}, {21, 100}, {9, 1000}})
        list.memory.push_back(record(list, time_ns, bytes));
    build_tree(list);
    CHECK(find(list, "c").cpu_memory_usage() == 11);
    CHECK(find(list, "p").cpu_memory_usage() == 1111);
    CHECK(find(list, "p").self_cpu_memory_usage() == 1100);
}

TEST_CASE("memory: a record at the very end of an event counts for the event, and is no event of "
          "its own") {
    event_list list;
    add_event(list, {.name = "p", .start_ns = 10, .end_ns = 20});
    list.memory = {record(list, 20, 64)};
    build_tree(list);
    REQUIRE(list.size() == 1);
    CHECK(find(list, "p").cpu_memory_usage() == 64);
    CHECK(total_average(list).self_cpu_memory_usage == 64);
}

TEST_CASE(
    "memory: a record outside all events becomes [memory], and a failure always [OutOfMemory]") {
    event_list list;
    add_event(list, {.name = "p", .start_ns = 10, .end_ns = 20});
    list.memory = {record(list, 30, 64), record(list, 15, 32)};
    list.memory.push_back(record(list, 16, 1 << 20));
    list.memory.back().out_of_memory = true;
    memory_record elsewhere = record(list, 15, 8);
    elsewhere.thread = list.lane("1", "2");
    list.memory.push_back(elsewhere);
    build_tree(list);
    REQUIRE(list.size() == 4);
    CHECK(find(list, "p").cpu_memory_usage() == 32);
    CHECK(find(list, "[OutOfMemory]").time_range() == interval{16, 16});
    CHECK(find(list, "[memory]").cpu_memory_usage() == 8);
    CHECK(parent_of(list, "[OutOfMemory]").empty());
}

TEST_CASE("backward stacks: deferred work shows the stack of the place that deferred it") {
    const event_list list =
        built({{.name = "pow",
                .start_ns = 0,
                .end_ns = 5,
                .stack = "train.cpp:7\nmain.cpp:3",
                .sequence_number = 4},
               {.name = "again",
                .start_ns = 6,
                .end_ns = 7,
                .stack = "other.cpp:1",
                .sequence_number = 4},
               {.name = "PowBackward0",
                .start_ns = 0,
                .end_ns = 9,
                .thread = 2,
                .sequence_number = 4,
                .forward_thread = 1},
               {.name = "mul", .start_ns = 1, .end_ns = 2, .thread = 2, .stack = "engine.cpp:1"},
               {.name = "SumBackward0",
                .start_ns = 10,
                .end_ns = 12,
                .thread = 2,
                .stack = "engine.cpp:1",
                .sequence_number = 8,
                .forward_thread = 1}});
    CHECK(find(list, "PowBackward0").stack() == "train.cpp:7\nmain.cpp:3");
    CHECK(find(list, "PowBackward0").scope() == record_scope::backward_function);
    CHECK(find(list, "mul").stack() == "train.cpp:7\nmain.cpp:3");
    CHECK(find(list, "SumBackward0").stack().empty());
}

TEST_CASE("step names: the name has a star, the trace's name keeps the number") {
    const event_list list = built({{.name = "ProfilerStep#12", .start_ns = 0, .end_ns = 5}});
    CHECK(find(list, "ProfilerStep*").trace_name() == "ProfilerStep#12");
}

TEST_CASE("Python functions are no parents in a torch trace, and all events of a trace without "
          "torch's kinds nest") {
    const event_list torch =
        built({{.name = "py", .start_ns = 0, .end_ns = 9, .what = activity::python_function},
               {.name = "op", .start_ns = 1, .end_ns = 5}});
    CHECK(parent_of(torch, "op").empty());
    const event_list other =
        built({{.name = "outer", .start_ns = 0, .end_ns = 9, .what = activity::other},
               {.name = "inner", .start_ns = 1, .end_ns = 5, .what = activity::other}});
    CHECK(parent_of(other, "inner") == "outer");
}

TEST_CASE("a trace with kinds of devices, but without torch's CPU kinds, is not torch's") {
    const event_list list =
        built({{.name = "outer", .start_ns = 0, .end_ns = 9, .what = activity::other},
               {.name = "inner", .start_ns = 1, .end_ns = 5, .what = activity::other},
               {.name = "irq", .start_ns = 2, .end_ns = 3, .thread = 7, .what = activity::kernel}});
    CHECK(parent_of(list, "inner") == "outer");
    CHECK(key_averages(list, {.select = event_selection::cpu}).size() == 2);
    CHECK(self_cpu_time_total_ns(list) == 9);
}

TEST_CASE("building a tree again changes nothing, and an empty list has a tree") {
    event_list list;
    build_tree(list);
    CHECK(list.empty());
    event_list memory;
    memory.memory.push_back(record(memory, 1, 2));
    build_tree(memory);
    build_tree(memory);
    CHECK(memory.size() == 1);
}

}  // namespace
