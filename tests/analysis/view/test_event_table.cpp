// SPDX-License-Identifier: Apache-2.0

// torch's table of event lists, as golden text.

#include <coroscope/analysis/table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../event_lists.hpp"
#include "../table_text.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope::test::built;
using coroscope::test::text_of;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

/// The cells of a line. No cell may contain two spaces.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::size_t at = line.find_first_not_of(' ');
    while (at != std::string::npos) {
        const std::size_t end = std::min(line.find("  ", at), line.size());
        cells.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(' ', end);
    }
    return cells;
}

event_list with_devices() {
    return built({{.name = "aten::linear", .start_ns = 0, .end_ns = 1'500'000, .external_id = 1},
                  {.name = "aten::mm", .start_ns = 100'000, .end_ns = 600'000, .external_id = 2},
                  {.name = "gemm",
                   .start_ns = 700'000,
                   .end_ns = 950'000,
                   .thread = 7,
                   .what = activity::kernel,
                   .external_id = 2},
                  {.name = "gpu mark",
                   .start_ns = 0,
                   .end_ns = 9'000'000,
                   .thread = 7,
                   .what = activity::gpu_user_annotation}});
}

TEST_CASE("a table with device times looks as torch's does") {
    const std::string rule =
        "----------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  ------------  ------------\n";
    CHECK(text_of(table_of(with_devices(), {.select = event_selection::cpu})) ==
          rule +
              "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time "
              "avg     "
              "Self CUDA   Self CUDA %    CUDA total  CUDA time avg    # of Calls\n" +
              rule +
              "    aten::linear        66.67%       1.000ms       100.00%       1.500ms       "
              "1.500ms       "
              "0.000us         0.00%     250.000us     250.000us             1\n"
              "        aten::mm        33.33%     500.000us        33.33%     500.000us     "
              "500.000us     "
              "250.000us       100.00%     250.000us     250.000us             1\n" +
              rule + "Self CPU time total: 1.500ms\nSelf CUDA time total: 250.000us\n");
}

TEST_CASE("torch's own selection has rows for devices, too") {
    const auto lines = lines_of(text_of(table_of(with_devices())));
    REQUIRE(lines.size() == 10);
    CHECK(cells_of(lines[3])[0] == "gpu mark");
    CHECK(cells_of(lines[6])[0] == "gemm");
    CHECK(cells_of(lines[6])[7] == "100.00%");
    CHECK(lines[9] == "Self CUDA time total: 250.000us");
}

TEST_CASE("shares of nothing are NaN") {
    const event_list list = built({{.name = "z", .start_ns = 5, .end_ns = 5}});
    const auto cells = cells_of(lines_of(text_of(table_of(list)))[3]);
    CHECK(cells ==
          std::vector<std::string>{"z", "NaN", "0.000us", "NaN", "0.000us", "0.000us", "1"});
}

TEST_CASE("memory columns are shown if memory was profiled, and the device's if it has any") {
    event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 1, .cpu_memory = -1536}});
    CHECK(text_of(table_of(list)).find("Mem") == std::string::npos);
    list.memory_profile = true;
    auto lines = lines_of(text_of(table_of(list)));
    CHECK(cells_of(lines[1])[6] == "CPU Mem");
    CHECK(cells_of(lines[1])[8] == "# of Calls");
    CHECK(cells_of(lines[3])[7] == "-1.50 KB");
    list.sums[0].device_memory = 5LL << 20;
    list.use_device = "xpu";
    lines = lines_of(text_of(table_of(list)));
    CHECK(cells_of(lines[1])[9] == "Self XPU Mem");
    CHECK(cells_of(lines[3])[9] == "5.00 MB");
}

TEST_CASE("FLOPs are scaled by the smallest row, and a row without FLOPs has --") {
    const event_list list = built({{.name = "mm", .start_ns = 0, .end_ns = 1, .flops = 12e6},
                                   {.name = "mul", .start_ns = 2, .end_ns = 3, .flops = 4500},
                                   {.name = "view", .start_ns = 4, .end_ns = 5}});
    const auto lines = lines_of(text_of(table_of(list)));
    CHECK(cells_of(lines[1]).back() == "Total KFLOPs");
    CHECK(cells_of(lines[3]).back() == "12000.000");
    CHECK(cells_of(lines[4]).back() == "4.500");
    CHECK(cells_of(lines[5]).back() == "--");
    CHECK(lines[4].ends_with("         4.500"));
}

TEST_CASE("FLOPs below a thousand have no prefix, and FLOPs beyond peta have peta's") {
    const auto heading = [](double flops) {
        const event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 1, .flops = flops}});
        return cells_of(lines_of(text_of(table_of(list)))[1]).back();
    };
    CHECK(heading(999) == "Total FLOPs");
    CHECK(heading(0.5) == "Total FLOPs");
    CHECK(heading(1e15) == "Total PFLOPs");
    CHECK(heading(1e21) == "Total PFLOPs");
}

TEST_CASE("a stack continues on rows of its own, and headings and cells have the same order") {
    const event_list list =
        built({{.name = "mm",
                .start_ns = 0,
                .end_ns = 2'000,
                .node_id = 3,
                .stack = "inner.cpp:1\nouter.cpp:2",
                .input_shapes = "[[2, 3], []]",
                .overload_name = "out",
                .flops = 1000},
               {.name = "view", .start_ns = 3'000, .end_ns = 4'000, .node_id = 3}});
    const auto lines = lines_of(text_of(
        table_of(list, {.by_input_shape = true, .stack_frames = 5, .by_overload_name = true})));
    REQUIRE(lines.size() == 10);
    const auto headings = cells_of(lines[1]);
    const auto cells = cells_of(lines[3]);
    REQUIRE(headings.size() == cells.size());
    CHECK(headings[1] == "Overload Name");
    CHECK(cells[1] == "out");
    CHECK(headings[8] == "Node ID");
    CHECK(cells[8] == "3");
    CHECK(headings[9] == "Input Shapes");
    CHECK(cells[9] == "[[2, 3], []]");
    CHECK(headings[10] == "Source Location");
    CHECK(cells[10] == "inner.cpp:1");
    CHECK(headings[11] == "Total KFLOPs");
    CHECK(cells[11] == "1.000");
    CHECK(cells_of(lines[4]) == std::vector<std::string>{"outer.cpp:2"});
    CHECK(lines[4].find("outer") == lines[3].find("inner"));
    CHECK(lines[5].empty());
    CHECK(cells_of(lines[6])[0] == "view");
    CHECK(lines[7].empty());
}

TEST_CASE("widths: shapes are cut, sources keep their tail") {
    const event_list list = built({{.name = "a",
                                    .start_ns = 0,
                                    .end_ns = 1,
                                    .stack = std::string(90, 'f') + ".cpp:1",
                                    .input_shapes = "[" + std::string(100, '2') + "]"}});
    const auto lines =
        lines_of(text_of(table_of(list, {.by_input_shape = true, .stack_frames = 1}),
                         {.max_src_column_width = 20, .max_shapes_column_width = 30}));
    const auto cells = cells_of(lines[3]);
    CHECK(cells[7] == "[" + std::string(29, '2'));
    CHECK(cells[8] == "..." + std::string(11, 'f') + ".cpp:1");
}

TEST_CASE("torch's older sort keys sort by device time") {
    table_input input = table_of(with_devices(), {.select = event_selection::cpu});
    for (const char* key : {"self_cuda_time_total", "self_device_time_total", "self_xpu_time_total",
                            "self_privateuse1_time_total"})
        CHECK(cells_of(lines_of(text_of(input, {.sort_by = key}))[3])[0] == "aten::mm");
    CHECK_FALSE(table(input, {.sort_by = "cuda"}).has_value());
}

TEST_CASE(
    "the row limit counts printed rows, so that a table of top-level rows is as long as asked") {
    const event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 10},
                                   {.name = "inner", .start_ns = 1, .end_ns = 9},
                                   {.name = "b", .start_ns = 10, .end_ns = 20},
                                   {.name = "c", .start_ns = 20, .end_ns = 30}});
    const auto lines =
        lines_of(text_of(table_of(list), {.row_limit = 2, .top_level_events_only = true}));
    REQUIRE(lines.size() == 9);
    CHECK(lines[0] == std::string(lines[2].size(), '='));
    CHECK(lines[1] == "This report only display top-level ops statistics");
    CHECK(cells_of(lines[5])[0] == "a");
    CHECK(cells_of(lines[6])[0] == "b");
    CHECK(lines[8] == "Self CPU time total: 0.030us");
}

TEST_CASE("a line above the table says why devices were not recorded") {
    event_list list = built({{.name = "a", .start_ns = 0, .end_ns = 1}});
    list.device_note = "No device times: CUPTI was not found";
    CHECK(text_of(table_of(list)).find("=\nNo device times: CUPTI was not found\n---") !=
          std::string::npos);
}

TEST_CASE("the footer shows memory outside every event, and failed allocations") {
    event_list list;
    add_event(list, {.name = "a", .start_ns = 0, .end_ns = 1});
    memory_record record;
    record.time_ns = 50;
    record.bytes = 2048;
    record.thread = list.lane("1", "1");
    list.memory.push_back(record);
    record.out_of_memory = true;
    list.memory.push_back(record);
    list.memory_profile = true;
    build_tree(list);
    const std::string text = text_of(table_of(list, {.select = event_selection::cpu}));
    CHECK(text.find("\nMemory in no row: 2.00 KB on the CPU, 0 B on devices; records of it: 1\n"
                    "Failed allocations: 1\n") != std::string::npos);
    CHECK(text_of(table_of(list)).find("[OutOfMemory]") != std::string::npos);
}

TEST_CASE("memory of a Python function alone is in no row, and the footer shows it") {
    event_list list;
    add_event(list, {.name = "py", .start_ns = 0, .end_ns = 50, .what = activity::python_function});
    add_event(list, {.name = "op", .start_ns = 40, .end_ns = 45});
    memory_record record;
    record.thread = list.lane("1", "1");
    for (const auto& [time_ns, bytes] : {std::pair{20, 1024}, {42, 512}, {44, 256}}) {
        record.time_ns = time_ns;
        record.bytes = bytes;
        list.memory.push_back(record);
    }
    list.memory_profile = true;
    build_tree(list);
    const table_input input = table_of(list, {.select = event_selection::cpu});
    REQUIRE(input.rows.size() == 1);
    CHECK(input.rows[0].cpu_memory_usage == 768);
    CHECK(input.notes.back() ==
          "Memory in no row: 1.00 KB on the CPU, 0 B on devices; records of it: 1");
    CHECK(total_average(list).self_cpu_memory_usage == 1792);
    CHECK(coroscope::test::find(list, "py").cpu_memory_usage() == 1792);
}

std::uint32_t add_other(event_list& list, const char* category, std::int64_t start_ns) {
    const auto at = add_event(
        list, {.name = "e", .start_ns = start_ns, .end_ns = start_ns + 1, .what = activity::other});
    list.rows[at].category = list.intern(category);
    return at;
}

TEST_CASE("a note under the table counts events of other categories or without one, but no hidden "
          "events") {
    event_list list;
    add_event(list, {.name = "op", .start_ns = 0, .end_ns = 9});
    for (const char* category : {"b", "a", "b", "", "c", "d", "e\n", "f"})
        add_other(list, category, 1);
    list.rows[add_other(list, "mine", 1)].flags |= row_hidden;
    build_tree(list);
    CHECK(table_of(list, {.select = event_selection::cpu}).notes ==
          std::vector<std::string>{"8 events of the categories b, a, (none), c, d and 2 more are "
                                   "not in this table; coroscope export has them"});
    CHECK(table_of(list, {.select = event_selection::device}).notes.empty());
}

TEST_CASE(
    "an empty table names the command for events on devices, and a table counts its other events") {
    const event_list list = built(
        {{.name = "step", .start_ns = 0, .end_ns = 9, .what = activity::gpu_user_annotation},
         {.name = "k", .start_ns = 0, .end_ns = 5, .what = activity::kernel},
         {.name = "mark", .start_ns = 0, .end_ns = 9, .what = activity::gpu_user_annotation}});
    CHECK(text_of(table_of(list, {.select = event_selection::cpu})) ==
          "3 events on devices: coroscope table --device\n");
    const table_input devices = table_of(list, {.select = event_selection::device});
    CHECK(devices.rows.size() == 1);
    REQUIRE(devices.notes.size() == 1);
    CHECK(devices.notes[0].starts_with("2 events of the "));
}

TEST_CASE("the notes under a table use the singular for one event") {
    event_list list;
    add_event(list, {.name = "op", .start_ns = 0, .end_ns = 9});
    add_other(list, "mark", 1);
    build_tree(list);
    CHECK(table_of(list, {.select = event_selection::cpu}).notes ==
          std::vector<std::string>{
              "1 event of the category mark is not in this table; coroscope export has it"});
    const event_list kernel =
        built({{.name = "k", .start_ns = 0, .end_ns = 5, .what = activity::kernel}});
    CHECK(table_of(kernel, {.select = event_selection::cpu}).notes ==
          std::vector<std::string>{"1 event on devices: coroscope table --device"});
}

TEST_CASE("an empty list gives an empty table") {
    event_list list;
    build_tree(list);
    CHECK(text_of(table_of(list)).empty());
}

}  // namespace
