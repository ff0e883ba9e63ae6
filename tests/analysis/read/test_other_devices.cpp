// SPDX-License-Identifier: Apache-2.0

// torch's traces of devices that are not CUDA's: the categories of MTIA, HPU, XPU and PrivateUse1.

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/table.hpp>

#include "../reading.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace {

using namespace coroscope_tests;
using namespace coroscope::analysis;

/// An operation of 50 us, within it a call of 10 us, and the launched work: 30 us by its external
/// id, and 5 us by its correlation alone.
std::string launch(std::string_view call, std::string_view work, std::string_view more = {}) {
    const auto event = [](std::string_view category, std::string_view rest) {
        return std::string(R"({"ph":"X","cat":")").append(category).append("\",").append(rest);
    };
    return trace_of(event("cpu_op", R"("name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":50,
               "args":{"External id":5}},)") +
                    event(call, R"("name":"launch","pid":1,"tid":1,"ts":20,"dur":10,
               "args":{"External id":5,"correlation":77}},)") +
                    event(work, R"("name":"work","pid":0,"tid":7,"ts":40,"dur":30,
               "args":{"External id":5,"correlation":77,"device":0,"stream":7}},)") +
                    event(work, R"("name":"more work","pid":0,"tid":7,"ts":75,"dur":5,
               "args":{"correlation":77,"device":0,"stream":7}})") +
                    std::string(more));
}

/// A row as "name category calls self-cpu total-device", in microseconds.
std::string text_of(const function_event_avg& row) {
    const auto us = [](std::int64_t ns) { return " " + std::to_string(ns / 1000); };
    return row.name + " " + row.category + " " + std::to_string(row.count) +
           us(row.self_cpu_time_total_ns) + us(row.device_time_total_ns);
}

std::vector<std::string> averages_of(const event_list& list, event_selection select) {
    grouping by;
    by.select = select;
    std::vector<std::string> rows;
    for (const function_event_avg& each : key_averages(list, by)) rows.push_back(text_of(each));
    return rows;
}

std::string table_text(const event_list& list) { return table(table_of(list)).value(); }

std::string exported(const event_list& list) {
    std::string text;
    const auto written = export_chrome_trace(list, [&text](std::string_view part) {
        text += part;
        return true;
    });
    REQUIRE(written.has_value());
    return text;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

using names = std::vector<std::string>;

TEST_CASE("calls of MTIA's runtime are calls, and CCP events are the device time of the operation "
          "that launched them") {
    event_list list = events_of_text(launch("mtia_runtime", "mtia_ccp_events"));
    build_tree(list);
    CHECK(averages_of(list, event_selection::cpu) ==
          names{"aten::mm cpu_op 1 40 35", "launch runtime 1 10 0"});
    CHECK(averages_of(list, event_selection::device) ==
          names{"work kernel 1 0 30", "more work kernel 1 0 5"});
    CHECK(self_device_time_total_ns(list) == 35'000);
}

TEST_CASE("HPU operations are work of the device, as in torch") {
    event_list list = events_of_text(launch("overhead", "hpu_op"));
    build_tree(list);
    CHECK(averages_of(list, event_selection::cpu) == names{"aten::mm cpu_op 1 50 30"});
    CHECK(averages_of(list, event_selection::device) ==
          names{"work kernel 1 0 30", "more work kernel 1 0 5"});
}

TEST_CASE("the calls of every device's runtime and driver launch kernels") {
    for (const char* call : {"cuda_runtime", "cuda_driver", "xpu_runtime", "xpu_driver",
                             "privateuse1_runtime", "privateuse1_driver"}) {
        CAPTURE(call);
        event_list list = events_of_text(launch(call, "kernel"));
        build_tree(list);
        CHECK(averages_of(list, event_selection::cpu) ==
              names{"aten::mm cpu_op 1 40 35", "launch runtime 1 10 0"});
    }
}

TEST_CASE("insight events of MTIA are on the device, and add no time since they overlap the work") {
    event_list list = events_of_text(launch(
        "mtia_runtime", "mtia_ccp_events",
        R"(,{"ph":"X","cat":"mtia_insight","name":"queue","pid":0,"tid":8,"ts":40,"dur":30})"));
    build_tree(list);
    CHECK(self_device_time_total_ns(list) == 35'000);
    CHECK(averages_of(list, event_selection::device).size() == 2);
    const auto names_it = [&](event_selection select) {
        grouping by;
        by.select = select;
        return has(table(table_of(list, by)).value(), "mtia_insight");
    };
    CHECK(names_it(event_selection::device));  // below the rows, as a category that has none
    CHECK(!names_it(event_selection::cpu));
}

TEST_CASE("the device's columns are named after the device that the categories name") {
    struct named {
        const char* call;
        const char* work;
        const char* heading;
    };
    for (const named& each :
         {named{"cuda_runtime", "kernel", "Self CUDA"}, named{"overhead", "kernel", "Self CUDA"},
          named{"mtia_runtime", "mtia_ccp_events", "Self MTIA"},
          named{"overhead", "hpu_op", "Self HPU"}, named{"xpu_runtime", "kernel", "Self XPU"},
          named{"privateuse1_runtime", "gpu_memcpy", "Self PRIVATEUSE1"}}) {
        CAPTURE(each.heading);
        CHECK(has(table_text(events_of_text(launch(each.call, each.work))), each.heading));
    }
    CHECK(events_of_text(trace_of(complete("a", "1", "1"))).use_device.empty());
}

TEST_CASE("a memory timeline names the device") {
    const event_list list = events_of_text(launch("mtia_runtime", "mtia_ccp_events", R"(,
        {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":15,"args":{"Device Type":20,
         "Device Id":0,"Addr":16,"Bytes":512}})"));
    std::string text;
    REQUIRE(export_memory_timeline(list, [&text](std::string_view part) {
                text += part;
                return true;
            }).has_value());
    CHECK(has(text, "\"mtia:0\""));
}

TEST_CASE("a table can be sorted by the columns of MTIA and HPU") {
    const event_list list = events_of_text(launch("mtia_runtime", "mtia_ccp_events"));
    for (const char* key : {"self_mtia_time_total", "self_hpu_time_total"})
        CHECK(table(table_of(list), {.sort_by = key}).has_value());
}

TEST_CASE("an export of a foreign trace keeps the categories of calls and devices") {
    for (const char* work : {"mtia_ccp_events", "hpu_op", "kernel"})
        for (const char* call : {"mtia_runtime", "xpu_driver", "cuda_driver", "glow_runtime"}) {
            CAPTURE(call);
            const std::string text = exported(events_of_text(launch(call, work)));
            CHECK(has(text, std::string("\"cat\":\"") + call + "\""));
            CHECK(has(text, std::string("\"cat\":\"") + work + "\""));
            CHECK(events_of_text(text).use_device == events_of_text(launch(call, work)).use_device);
        }
}

}  // namespace
