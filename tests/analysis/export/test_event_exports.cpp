// SPDX-License-Identifier: Apache-2.0

// The files that torch's profiler writes, made from event lists.

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/load_events.hpp>
#include <coroscope/trace/buffer.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "../../support/json.hpp"
#include "../../support/scratch_file.hpp"
#include "../event_lists.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope::test::built;
using coroscope_tests::json;
using coroscope_tests::parse_json;

const std::string hostile = "a\"b\\c\nd\te\x1b[31m\x01\x7f\xff\xc0\xaf;\xe2\x82\xac";

template <class Export>
std::string text_of(Export&& to_sink) {
    std::string text;
    const auto done = to_sink([&text](std::string_view part) {
        text += part;
        return true;
    });
    REQUIRE(done.has_value());
    return text;
}

std::string chrome_text(const event_list& list) {
    return text_of([&](const byte_sink& sink) { return export_chrome_trace(list, sink); });
}

event_list reloaded(const event_list& list) {
    const std::string text = chrome_text(list);
    auto loaded = load_events(coroscope::trace::buffer::copy(text.data(), text.size()));
    REQUIRE_MESSAGE(loaded.has_value(), (loaded ? std::string() : loaded.error().message));
    event_list events = std::move(*loaded);
    build_tree(events);
    return events;
}

event_list sample() {
    event_list list;
    add_event(list, {.name = "ProfilerStep#3",
                     .start_ns = 1'000,
                     .end_ns = 99'001,
                     .what = activity::user_annotation});
    add_event(list, {.name = "aten::mm",
                     .start_ns = 2'001,
                     .end_ns = 50'002,
                     .external_id = 7,
                     .stack = "inner frame.cpp:1\nouter.cpp:2",
                     .input_shapes = "[[2, 3], []]",
                     .sequence_number = 4});
    const auto call = add_event(list, {.name = "cudaLaunchKernel",
                                       .start_ns = 3'000,
                                       .end_ns = 4'500,
                                       .what = activity::runtime,
                                       .external_id = 7});
    const auto ran = add_event(list, {.name = hostile,
                                      .start_ns = 60'000,
                                      .end_ns = 66'007,
                                      .thread = 7,
                                      .process = 0,
                                      .what = activity::kernel,
                                      .external_id = 7});
    list.rows[call].correlation = list.rows[ran].correlation = 31;
    add_event(list, {.name = "MmBackward0",
                     .start_ns = 70'000,
                     .end_ns = 80'000,
                     .thread = 2,
                     .sequence_number = 4,
                     .forward_thread = 1});
    add_event(list, {.name = "rpc", .start_ns = 5'000, .end_ns = 200'000, .is_async = true});
    memory_record record;
    record.time_ns = 2'500;
    record.bytes = 4096;
    record.address = 16;
    record.thread = list.lane("1", "1");
    list.memory.push_back(record);
    record.time_ns = 150'000;
    record.bytes = -4096;
    list.memory.push_back(record);
    list.memory_profile = true;
    list.threads[0].name = hostile;
    build_tree(list);
    return list;
}

TEST_CASE("an event of another node is on a lane named after node and thread") {
    event_list list;
    const auto here = add_event(list, {.name = "here", .end_ns = 1, .thread = 3});
    const auto there = add_event(
        list, {.name = "there", .end_ns = 1, .thread = 3, .node_id = 2, .is_remote = true});
    CHECK_FALSE(function_event(list, here).is_remote());
    CHECK(function_event(list, there).is_remote());
    const std::string text = chrome_text(list);
    CHECK(text.find(R"("name":"here","pid":1,"tid":3,)") != std::string::npos);
    CHECK(text.find(R"("name":"there","pid":1,"tid":" node_id:2, thread_id:3 ",)") !=
          std::string::npos);
}

void check_same(const event_list& one, const event_list& other, const grouping& by) {
    const auto want = key_averages(one, by);
    const auto got = key_averages(other, by);
    REQUIRE(got.size() == want.size());
    for (std::size_t at = 0; at < want.size(); ++at) {
        CAPTURE(want[at].name);
        CHECK(got[at].category == want[at].category);
        CHECK(got[at].count == want[at].count);
        CHECK(got[at].cpu_time_total_ns == want[at].cpu_time_total_ns);
        CHECK(got[at].self_cpu_time_total_ns == want[at].self_cpu_time_total_ns);
        CHECK(got[at].device_time_total_ns == want[at].device_time_total_ns);
        CHECK(got[at].self_device_time_total_ns == want[at].self_device_time_total_ns);
        CHECK(got[at].self_cpu_memory_usage == want[at].self_cpu_memory_usage);
        CHECK(got[at].is_async == want[at].is_async);
        CHECK(got[at].input_shapes == want[at].input_shapes);
        CHECK(got[at].stack == want[at].stack);
    }
}

TEST_CASE("a Kineto trace that is written and read back gives the same averages") {
    const event_list list = sample();
    const event_list again = reloaded(list);
    check_same(list, again, {});
    check_same(list, again, {.by_input_shape = true, .stack_frames = 5});
    check_same(again, reloaded(again), {.by_input_shape = true, .stack_frames = 5});
}

TEST_CASE("an export keeps the id and the rank of a recording") {
    event_list list = sample();
    list.trace_id = "AB \"C\"";
    list.node = 3;
    const event_list again = reloaded(list);
    CHECK(again.trace_id == list.trace_id);
    CHECK(again.node == 3);
}

TEST_CASE("a Kineto trace is valid JSON with three decimals for any bytes in names") {
    const json document = parse_json(chrome_text(sample()));
    CHECK(document["schemaVersion"].integer() == 1);
    std::map<std::string, int> phases;
    for (const json& each : document["traceEvents"].elements) {
        ++phases[each["ph"].text];
        CHECK(each["ts"].nanoseconds() >= 0);
        if (each["name"].text == "aten::mm") {
            CHECK(each["ts"].text == "2.001");
            CHECK(each["dur"].text == "48.001");
            CHECK(each["args"]["External id"].integer() == 7);
            CHECK(each["args"]["Input Dims"][0][1].integer() == 3);
            CHECK(each["args"]["Call stack"].text == "inner frame.cpp:1;outer.cpp:2");
        }
    }
    CHECK(phases == std::map<std::string, int>{
                        {"M", 1}, {"X", 5}, {"b", 1}, {"e", 1}, {"f", 2}, {"i", 2}, {"s", 2}});
}

TEST_CASE(
    "arrows: one leads from the latest forward event to the first backward event of its number") {
    event_list list;
    add_event(list, {.name = "mm", .start_ns = 0, .end_ns = 10, .sequence_number = 4});
    add_event(list, {.name = "mul", .start_ns = 5'000, .end_ns = 6'000, .sequence_number = 4});
    for (const std::int64_t start : {7'000, 9'000})
        add_event(list, {.name = "MulBackward0",
                         .start_ns = start,
                         .end_ns = start + 500,
                         .thread = 2,
                         .sequence_number = 4,
                         .forward_thread = 1});
    build_tree(list);
    const json document = parse_json(chrome_text(list));
    std::string flows;
    for (const json& each : document["traceEvents"].elements)
        if (each["ph"].text == "s" || each["ph"].text == "f")
            flows += each["ph"].text + " " + each["cat"].text + " " + each["ts"].text + " " +
                     each["id"].text + ", ";
    CHECK(flows == "s fwdbwd 5.000 0x1, f fwdbwd 7.000 0x1, ");
}

TEST_CASE("times before the list's base move the base, so that no time is negative") {
    const event_list list = built({{.name = "a", .start_ns = -1'500, .end_ns = 500}});
    const json document = parse_json(chrome_text(list));
    CHECK(document["baseTimeNanoseconds"].integer() == -1'500);
    CHECK(document["traceEvents"][0]["ts"].text == "0.000");
}

TEST_CASE("arguments that are no JSON are written as text") {
    event_list list;
    const auto at =
        add_event(list, {.name = "a", .start_ns = 0, .end_ns = 1, .input_shapes = "[[2, NaN]"});
    list.extras[list.rows[at].extra].concrete_inputs = list.intern("[nan]");
    build_tree(list);
    const json document = parse_json(chrome_text(list));
    CHECK(document["traceEvents"][0]["args"]["Input Dims"].text == "[[2, NaN]");
    CHECK(document["traceEvents"][0]["args"]["Concrete Inputs"].text == "[nan]");
}

TEST_CASE("stacks: each event of a microsecond or more has a line, outermost first, with "
          "separators replaced") {
    const event_list list =
        built({{.name = "a", .start_ns = 0, .end_ns = 2'999, .stack = "in ner;x\tf.cpp:1\nouter"},
               {.name = "b", .start_ns = 3'000, .end_ns = 3'999, .stack = "short"},
               {.name = "c", .start_ns = 5'000, .end_ns = 9'000}});
    CHECK(text_of([&](const byte_sink& sink) {
              return export_stacks(list, "self_cpu_time_total", sink);
          }) == "outer;in_ner_x_f.cpp:1 2\n");
    CHECK(text_of([&](const byte_sink& sink) {
              return export_stacks(list, "self_cuda_time_total", sink);
          }).empty());
}

TEST_CASE("stacks: an unknown metric fails, and the error names the metrics") {
    const auto done =
        export_stacks(event_list{}, "cpu_time", [](std::string_view) { return true; });
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().message.find("self_cpu_time_total, self_device_time_total") !=
          std::string::npos);
}

TEST_CASE("memory timeline: blocks are created, changed in place, destroyed, or older than the "
          "recording") {
    event_list list;
    const auto add = [&list](std::int64_t time_ns, std::uint64_t address, std::int64_t bytes,
                             device_kind device) {
        memory_record record;
        record.time_ns = time_ns;
        record.address = address;
        record.bytes = bytes;
        record.device = device;
        list.memory.push_back(record);
    };
    add(10'000, 1, 100, device_kind::cpu);
    add(20'000, 2, -7, device_kind::cpu);
    add(30'000, 1, 160, device_kind::cpu);
    add(40'000, 1, 50, device_kind::cuda);
    add(50'000, 1, -160, device_kind::cpu);
    build_tree(list);
    const json document = parse_json(
        text_of([&](const byte_sink& sink) { return export_memory_timeline(list, sink); }));
    std::string times, sizes, actions;
    for (const json& each : document[0].elements) times += each.text + " ";
    for (const json& each : document[1].elements) sizes += each[0].text + "+" + each[1].text + " ";
    for (const json& each : document[3].elements) actions += each[1].text + " ";
    CHECK(times == "10 20 30 40 50 ");
    CHECK(sizes == "107+0 100+0 160+0 160+50 0+50 ");
    CHECK(document[2][1].text == "cuda:0");
    CHECK(actions == "CREATE PREEXISTING DESTROY INCREMENT_VERSION CREATE DESTROY ");
}

TEST_CASE(
    "memory timeline: thousands of devices share a bounded number of columns, written in parts") {
    event_list list;
    for (int device = 0; device < 2000; ++device) {
        memory_record record;
        record.time_ns = device * 1000;
        record.address = static_cast<std::uint64_t>(device) + 1;
        record.bytes = 8;
        record.device = device_kind::cuda;
        record.device_index = device;
        list.memory.push_back(record);
    }
    build_tree(list);
    std::string text;
    std::size_t longest = 0;
    REQUIRE(export_memory_timeline(list, [&](std::string_view part) {
                longest = std::max(longest, part.size());
                text += part;
                return true;
            }).has_value());
    CHECK(longest < 100'000);
    const json document = parse_json(text);
    REQUIRE(document[2].elements.size() == 257);
    CHECK(document[2][256].text == "more devices");
    CHECK(document[1].elements.size() == 2000);
    CHECK(document[1][1999][256].integer() == 8 * (2000 - 256));
    CHECK(document[3][1999][3].text == "more devices");
}

TEST_CASE("execution graph: ids from 2, parents by id, the root last and its own parent") {
    const json document = parse_json(
        text_of([](const byte_sink& sink) { return export_execution_graph(sample(), sink); }));
    for (const char* member : {"schema", "pid", "time", "start_ts", "nodes", "finish_ts"})
        CHECK(document.has(member));
    const auto& nodes = document["nodes"].elements;
    std::map<std::string, const json*> by_name;
    for (const json& each : nodes) by_name[each["name"].text] = &each;
    CHECK(nodes.front()["id"].integer() == 2);
    CHECK(nodes.back()["id"].integer() == 1);
    CHECK(nodes.back()["ctrl_deps"].integer() == 1);
    CHECK((*by_name["aten::mm"])["ctrl_deps"].integer() ==
          (*by_name["ProfilerStep#3"])["id"].integer());
    CHECK((*by_name["ProfilerStep#3"])["ctrl_deps"].integer() == 2);
    CHECK((*by_name["aten::mm"])["inputs"]["shapes"][0][0].integer() == 2);
    CHECK(by_name.count("cudaLaunchKernel") == 0);
}

TEST_CASE("an export to a file leaves no temporary file, and fails with the system's reason") {
    const coroscope::test::scratch_file target;
    REQUIRE(export_chrome_trace(sample(), std::string(target.path())).has_value());
    std::ifstream input(target.path());
    parse_json(std::string(std::istreambuf_iterator<char>(input), {}));
    CHECK_FALSE(std::ifstream(std::string(target.path()) + ".tmp").good());
    const auto failed = export_chrome_trace(sample(), std::string("/nowhere/at/all.json"));
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().message == "No such file or directory");
}

TEST_CASE("a sink that refuses ends the export with a failure") {
    const byte_sink refuses = [](std::string_view) { return false; };
    CHECK_FALSE(export_chrome_trace(sample(), refuses).has_value());
    CHECK_FALSE(export_execution_graph(sample(), refuses).has_value());
    CHECK_FALSE(export_memory_timeline(sample(), refuses).has_value());
    CHECK_FALSE(export_stacks(sample(), "self_cpu_time_total", refuses).has_value());
}

TEST_CASE("an empty list exports as empty documents") {
    event_list list;
    build_tree(list);
    CHECK(parse_json(chrome_text(list))["traceEvents"].elements.empty());
    parse_json(text_of([&](const byte_sink& sink) { return export_memory_timeline(list, sink); }));
    CHECK(parse_json(text_of(
              [&](const byte_sink& sink) { return export_execution_graph(list, sink); }))["nodes"]
              .elements.size() == 1);
}

}  // namespace
