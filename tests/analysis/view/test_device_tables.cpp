// SPDX-License-Identifier: Apache-2.0

// The work of devices in tables: by torch's rules of event lists, and in the table of a native
// trace.

#include <coroscope/analysis/accumulate.hpp>
#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/views.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../../support/json.hpp"
#include "../event_lists.hpp"
#include "../loading.hpp"

namespace coroscope::test {
namespace {

using analysis::event_list;
using analysis::function_event;
using what = trace::device_activity;

/// A request on thread 1: "outer" around "inner"; inner launches gemm and a copy, outer another kernel.
trace_builder request() {
    trace_builder made;
    const auto outer = made.site("outer"), inner = made.site("inner"), launch = made.site("launch");
    const auto gemm = made.site("gemm"), copy = made.site("Memcpy HtoD"), relu = made.site("relu");
    made.header.devices = 1;
    made.device_name(0, "a device");
    made.on(1).scope(inner, 100, 200).scope(outer, 50, 400);
    made.on(2)
        .device({.start = 300, .end = 380, .site = gemm, .correlation = 1})
        .device({what::copy, 250, 280, copy, 0, 0, 2, 0, 1, 7, 4096})
        .device({.start = 500, .end = 520, .site = relu, .correlation = 3})
        .device_call(110, 120, 1, launch)
        .device_call(130, 140, 2, launch)
        .device_call(300, 310, 3, launch);
    return made;
}

std::string text_of(const analysis::table_input& input) {
    const auto text = analysis::table(input);
    REQUIRE(text.has_value());
    return *text;
}

TEST_CASE("an operation's device time is its kernels' and its children's, without calls") {
    const event_list events = analysis::events_of(load(request()));
    const function_event outer = find(events, "outer"), inner = find(events, "inner");
    CHECK(events.use_device == "cuda");
    CHECK(inner.self_device_time_total_ns() == 110);
    CHECK(inner.device_time_total_ns() == 110);
    CHECK(outer.self_device_time_total_ns() == 20);
    CHECK(outer.device_time_total_ns() == 130);
    REQUIRE(inner.kernels().size() == 2);
    CHECK(inner.kernels()[0].name == "Memcpy HtoD");
    CHECK(inner.kernels()[1].name == "gemm");
    CHECK(inner.kernels()[1].device == 0);
    CHECK(inner.kernels()[1].duration_ns == 80);
    CHECK(inner.self_cpu_time_total_ns() == 100 - 20);
    CHECK(find(events, "launch").activity_type() == analysis::activity::runtime);
    CHECK(find(events, "launch").category() == "cuda_runtime");
    CHECK(parent_of(events, "launch") == "inner");
    CHECK(analysis::self_device_time_total_ns(events) == 130);
}

TEST_CASE("a device's rows name their stream, and the operation that launched them") {
    const event_list events = analysis::events_of(load(request()));
    const function_event gemm = find(events, "gemm");
    CHECK(gemm.device_type() == analysis::device_kind::cuda);
    CHECK(gemm.device_index() == 0);
    CHECK(gemm.device_resource_id() == 7);
    CHECK(gemm.linked_correlation_id() == find(events, "inner").external_id());
    CHECK(gemm.linked_correlation_id() != 0);
    CHECK(events.threads[gemm.thread()].process_name == "a device");
    CHECK(events.threads[gemm.thread()].name == "stream 7");
    CHECK(find(events, "Memcpy HtoD").category() == "gpu_memcpy");
}

TEST_CASE("a correlation number that is used again ties each kernel to its own call") {
    trace_builder made;
    const auto one = made.site("one"), two = made.site("two"), launch = made.site("launch");
    made.on(1).device_call(10, 20, 5, launch).device_call(30, 40, 5, launch);
    made.on(1)
        .device({.start = 15, .end = 25, .site = one, .correlation = 5})
        .device({.start = 45, .end = 55, .site = two, .correlation = 5});
    const event_list events = analysis::events_of(load(made));
    CHECK(find(events, "one").row().correlation == 5);
    CHECK(find(events, "two").row().correlation != 5);
    CHECK(events.rows[find(events, "one").row().parent].start_ns == 10);
    CHECK(events.rows[find(events, "two").row().parent].start_ns == 30);
}

TEST_CASE("kernels that overlap on one stream are on lanes of their own") {
    trace_builder made;
    const auto one = made.site("one"), two = made.site("two"), three = made.site("three");
    made.on(1)
        .device({.start = 10, .end = 50, .site = one})
        .device({.start = 20, .end = 30, .site = two})
        .device({.start = 60, .end = 70, .site = three, .context = 2});
    const event_list events = analysis::events_of(load(made));
    const auto lane = [&](const char* name) {
        return events.threads[find(events, name).thread()].name;
    };
    CHECK(lane("one") == "stream 7");
    CHECK(lane("two") == "stream 7 (overlapping 1)");
    CHECK(lane("three") == "stream 7 (context 2)");
    CHECK(find(events, "two").device_resource_id() == 7);
}

TEST_CASE("memory of a device counts for the operations around it") {
    trace_builder made;
    made.header.asked_for = trace::feature_memory;
    const auto outer = made.site("outer");
    made.on(1).scope(outer, 100, 200);
    device_values memory{what::allocated, 150, 150, 0, 0, 1001, 0, 0, 1, 7, 4096, -1, 0x1000};
    made.on(2).device(memory);
    memory.what = what::released;
    memory.start = memory.end = 300;
    made.on(2).device(memory);
    const event_list events = analysis::events_of(load(made));
    CHECK(find(events, "outer").device_memory_usage() == 4096);
    CHECK(find(events, "outer").cpu_memory_usage() == 0);
    CHECK(find(events, "[memory]").device_memory_usage() == -4096);
    REQUIRE(events.memory.size() == 2);
    CHECK(events.memory[0].total_allocated == 4096);
    CHECK(events.memory[1].total_allocated == 0);
    std::string timeline;
    REQUIRE(analysis::export_memory_timeline(events, [&](std::string_view part) {
        timeline += part;
        return true;
    }));
    CHECK(timeline.find("cuda:0") != std::string::npos);
    CHECK(timeline.find("DESTROY") != std::string::npos);
}

TEST_CASE("the table of a native trace has device times of its scopes, suspended ones included") {
    trace_builder made;
    const auto handle = made.site("handle"), step = made.site("step"), gemm = made.site("gemm");
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .scope(step, 60, 90)
        .suspend(100, 1)
        .resume(200, 1)
        .long_scope(handle, 50, 250, trace::scope_in_frame | trace::scope_exact, 1);
    made.on(2)
        .device({.start = 300, .end = 380, .site = gemm, .correlation = 1})
        .device({.start = 400, .end = 420, .site = gemm, .correlation = 2})
        .device_call(70, 80, 1, 0, 1, 1)
        .device_call(210, 220, 2, 0, 1, 1);
    const auto loaded = load(made);
    const auto rows = analysis::key_averages(loaded);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "handle");
    CHECK(rows[0].self_device_time_total_ns == 20);
    CHECK(rows[0].device_time_total_ns == 100);
    CHECK(rows[1].self_device_time_total_ns == 80);
    CHECK(analysis::self_device_time_total_ns(loaded) == 100);
    const std::string text = text_of(analysis::table_of(loaded));
    CHECK(text.find("Self CUDA %") != std::string::npos);
    CHECK(text.find("Self CUDA time total: 0.100us") != std::string::npos);
    // By torch's rule an asynchronous event has no device time.
    const event_list events = analysis::events_of(loaded);
    CHECK(find(events, "handle").device_time_total_ns() == 0);
    CHECK(find(events, "step").device_time_total_ns() == 80);
}

TEST_CASE("a stack has the device time of the kernels that were launched under it") {
    trace_builder made;
    made.header.asked_for = trace::feature_stacks;
    const auto outer = made.site("outer");
    made.on(1).note(100, trace::note_kind::stack, std::string(8, '\1')).scope(outer, 100, 200);
    made.on(2).device({.start = 3000, .end = 8000, .correlation = 1}).device_call(110, 120, 1);
    std::string text;
    REQUIRE(analysis::export_stacks(analysis::events_of(load(made)), "self_cuda_time_total",
                                    [&](std::string_view part) {
                                        text += part;
                                        return true;
                                    }));
    CHECK(text.ends_with(" 5\n"));
}

TEST_CASE("the execution graph has the operations that launched, and no device activities") {
    trace_builder made = request();
    made.on(3)
        .device_call(700, 710, 9, made.site("launch"), 3)
        .device({what::synchronization, 720, 760, made.site("Stream Sync")})
        .device({what::overhead, 770, 780, made.site("Instrumentation")})
        .device({what::allocated, 790, 790, made.site("[memory]"), 0, 0, 9});
    const event_list list = analysis::events_of(load(made));
    REQUIRE(list.threads.size() > 3);  // two streams' lanes, and a thread that only called
    std::string text;
    REQUIRE(analysis::export_execution_graph(list, [&text](std::string_view part) {
        text += part;
        return true;
    }));
    const auto document = coroscope_tests::parse_json(text);
    std::map<std::int64_t, std::string> names;
    std::vector<std::string> tree;
    for (const auto& node : document["nodes"].elements)
        CHECK(names.emplace(node["id"].integer(), node["name"].text).second);
    for (const auto& node : document["nodes"].elements) {
        REQUIRE(names.count(node["ctrl_deps"].integer()) == 1);
        tree.push_back(node["name"].text + " in " + names[node["ctrl_deps"].integer()]);
    }
    CHECK(tree == std::vector<std::string>{"[coroscope|thread] in [coroscope|process]",
                                           "outer in [coroscope|thread]", "inner in outer",
                                           "[coroscope|process] in [coroscope|process]"});
}

TEST_CASE("the rows of devices are kernels, copies and sets") {
    const event_list events = analysis::events_of(load(request()));
    const auto csv = analysis::table_csv(
        analysis::table_of(events, {.select = analysis::event_selection::device}),
        {.sort_by = "self_device_time_total"});
    REQUIRE(csv.has_value());
    CHECK(*csv == "name,category,count,total_ns\ngemm,kernel,1,80\nMemcpy HtoD,gpu_memcpy,1,30\n"
                  "relu,kernel,1,20\n");
    const auto cpu = analysis::table_csv(
        analysis::table_of(events, {.select = analysis::event_selection::cpu}), {.row_limit = 1});
    REQUIRE(cpu.has_value());
    CHECK(cpu->find("self_ns,device_total_ns,self_device_ns,suspended_ns") != std::string::npos);
    CHECK(cpu->find("outer,cpu_op,1,350,240,130,20,") != std::string::npos);
}

TEST_CASE("lines above the table give the reason for missing devices, and count lost records") {
    trace_builder made = request();
    const auto header = [&made] { return text_of(analysis::table_of(load(made))); };
    CHECK(header().find('=') == std::string::npos);
    made.header.lost_device_records = 12;
    CHECK(header().find("=\nDevices were not wholly recorded: lost records: 12.\n---") !=
          std::string::npos);
    CHECK(header().find("\nLost records of devices: 12\n") != std::string::npos);
    std::strcpy(made.header.device_message, "MEMCPY was refused.");
    CHECK(header().find("recorded: MEMCPY was refused; lost records: 12.\n") != std::string::npos);
    made.header.devices = 2;
    made.header.lost_device_records = 0;
    std::strcpy(made.header.device_message, "CUPTI was not found");
    CHECK(header().find("=\nDevices were not recorded: CUPTI was not found.\n---") !=
          std::string::npos);
    const event_list events = analysis::events_of(load(made));
    CHECK(text_of(analysis::table_of(events))
              .find("Devices were not recorded: CUPTI was not found.") != std::string::npos);
    const auto json = analysis::table_json(analysis::table_of(events));
    REQUIRE(json.has_value());
    const auto health = coroscope_tests::parse_json(*json)["health"];
    CHECK(health["devices"].text == "not recorded");
    CHECK(health["device_message"].text == "CUPTI was not found");
    CHECK(health["lost_device_records"].integer() == 0);
}

TEST_CASE("added cycles keep the reason for missing devices, and add up lost records") {
    trace_builder made = request();
    made.header.lost_device_records = 5;
    event_list all = analysis::events_of(load(made));
    made.header.devices = 2;
    std::strcpy(made.header.device_message, "no driver");
    analysis::accumulate(all, analysis::events_of(load(made)));
    CHECK(all.health.lost_device_records == 10);
    CHECK(all.health.devices == trace::device_recording::not_recorded);
    CHECK(all.health.device_message == "no driver");
    CHECK(analysis::self_device_time_total_ns(all) == 260);
}

TEST_CASE("the table of a trace without scopes still says that devices were not recorded") {
    trace_builder made;
    made.header.devices = 2;
    CHECK(text_of(analysis::table_of(load(made))) ==
          "Devices were not recorded: the trace does not say why.\n");
}

TEST_CASE("the footer shows device time outside every scope, even in a trace without scopes") {
    trace_builder made = request();
    made.on(2).device({.start = 600, .end = 700});
    CHECK(text_of(analysis::table_of(load(made)))
              .find("\nDevice time outside every scope: 100 ns\n") != std::string::npos);
    trace_builder bare;
    bare.device_name(0, "a device");
    bare.on(1).device({.start = 600, .end = 700});
    CHECK(text_of(analysis::table_of(load(bare))) == "Device time outside every scope: 100 ns\n");
    CHECK(text_of(analysis::table_of(load(request()))).find("outside") == std::string::npos);
}

TEST_CASE("info lists devices and activities only if the trace has some") {
    const std::string text = analysis::info_text(load(request()));
    CHECK(text.find("Devices     1: a device; 6 activities\n") != std::string::npos);
    const auto json = coroscope_tests::parse_json(analysis::info_json(load(request())));
    CHECK(json["devices"].elements[0]["name"].text == "a device");
    CHECK(json["device_activities"].integer() == 6);
    CHECK(analysis::info_text(load(trace_builder())).find("Devices") == std::string::npos);
}

coroscope_tests::json torch_json(const trace_builder& made) {
    std::string text;
    REQUIRE(
        analysis::export_chrome_trace(analysis::events_of(load(made)), [&](std::string_view part) {
            text += part;
            return true;
        }));
    return coroscope_tests::parse_json(text);
}

/// The name of the event that begins on the lane and at the time of an arrow's end.
std::string event_at(const coroscope_tests::json& document, const coroscope_tests::json& end) {
    for (const auto& each : document["traceEvents"].elements)
        if (each["ph"].text == "X" && each["ts"].text == end["ts"].text &&
            each["pid"].text == end["pid"].text && each["tid"].text == end["tid"].text)
            return each["name"].text;
    return "none";
}

TEST_CASE("torch's JSON ties each kernel to its call by an arrow") {
    const auto document = torch_json(request());
    int starts = 0, ends = 0;
    for (const auto& each : document["traceEvents"].elements) {
        starts += each["ph"].text == "s" ? 1 : 0;
        ends += each["ph"].text == "f" ? 1 : 0;
    }
    CHECK(starts == 3);
    CHECK(ends == 3);
}

TEST_CASE(
    "a call that launched several kernels has one start in torch's JSON, and an arrow to each") {
    trace_builder made;
    const auto outer = made.site("outer"), launch = made.site("cudaGraphLaunch");
    const auto one = made.site("one"), two = made.site("two");
    made.on(1).scope(outer, 50, 400);
    made.on(2)
        .device({.start = 200, .end = 250, .site = one, .correlation = 4})
        .device({.start = 300, .end = 350, .site = two, .correlation = 4})
        .device_call(110, 120, 4, launch);
    const auto document = torch_json(made);
    const auto& all = document["traceEvents"].elements;
    std::string flows;
    std::string id;
    for (const auto& each : all) {
        if (each["ph"].text != "s" && each["ph"].text != "f") continue;
        if (id.empty()) id = each["id"].text;
        CHECK(each["id"].text == id);
        CHECK(each["cat"].text == "ac2g");
        flows += each["ph"].text + " " + event_at(document, each) + "\n";
    }
    CHECK(flows == "s cudaGraphLaunch\nf one\nf two\n");
}

}  // namespace
}  // namespace coroscope::test
