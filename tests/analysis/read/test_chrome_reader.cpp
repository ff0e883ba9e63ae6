// SPDX-License-Identifier: Apache-2.0

// Chrome traces, Kineto's included, and the events made from them.

#include "../reading.hpp"

#include <sstream>
#include <string>

namespace {

using namespace coroscope::analysis;
using coroscope_tests::complete;
using coroscope_tests::events_of_text;
using coroscope_tests::rows_of;
using coroscope_tests::trace_of;

const event_extra& extra_of(const event_list& list, std::size_t row) {
    REQUIRE(list.rows.at(row).extra != none);
    return list.extras.at(list.rows[row].extra);
}

std::string lane_of(const event_list& list, std::size_t row) {
    const event_thread& lane = list.threads.at(list.rows.at(row).thread);
    return std::string(list.text(lane.process)).append("|").append(list.text(lane.thread));
}

TEST_CASE("an object and a bare array of events are the same trace") {
    const std::string events = complete("a", "1", "2") + "," + complete("b", "1.5", "0.25");
    const std::string expected = "a[1000,3000] b[1500,1750]";
    CHECK(rows_of(events_of_text(trace_of(events))) == expected);
    CHECK(rows_of(events_of_text("[" + events + "]")) == expected);
    CHECK(rows_of(events_of_text("\xEF\xBB\xBF \n[" + events + "]\n")) == expected);
    CHECK(rows_of(events_of_text(R"({"traceEvents":[]})")).empty());
}

TEST_CASE("members before and behind the events are read, and unknown members are ignored") {
    const event_list list = events_of_text(
        R"({"deviceProperties": [{"id": 0, "x": [1, {"y": null}]}], "record_shapes": 1,)"
        R"("traceEvents": [)" +
        complete("a", "1", "1") +
        R"(], "with_stack": 1, "profile_memory": 1, "with_flops": 1,)"
        R"("baseTimeNanoseconds": 1751410836000000000, "traceName": "t"})");
    CHECK(rows_of(list) == "a[1000,2000]");
    CHECK(list.base_realtime_ns == 1'751'410'836'000'000'000);
    CHECK((list.shapes && list.stacks && list.memory_profile && list.flops));
    CHECK(list.health.warnings.empty());
}

TEST_CASE("a recording's id and its rank of a distributed run are read") {
    const std::string groups(100'000, '7');
    const event_list list = events_of_text(
        R"({"trace_id": "AB\u0043 \"D\"", "distributedInfo": {"backend": "nccl", "ranks": [{"rank": 9}], "rank": 3,
            "pg_config": [")" +
        groups + R"("]}, "traceEvents": []})");
    CHECK(list.trace_id == "ABC \"D\"");
    CHECK(list.node == 3);
    for (const char* value :
         {"{}", "[]", "7", R"({"rank": "x"})", R"({"rank": -5})", R"({"rank": 1.5})"}) {
        const event_list without = events_of_text(R"({"trace_id": 7, "distributedInfo": )" +
                                                  std::string(value) + R"(, "traceEvents": []})");
        CHECK(without.trace_id.empty());
        CHECK(without.node == -1);
    }
}

TEST_CASE("times of 19 digits are exact") {
    const event_list list =
        events_of_text(trace_of(complete("a", "1700000000000000.001", "0.999") + "," +
                                complete("b", "1700000000000001", "99.001")));
    CHECK(rows_of(list) == "a[1700000000000000001,1700000000000001000] "
                           "b[1700000000000001000,1700000000000100001]");
    CHECK(list.duration_ns == 100'000);
}

TEST_CASE(
    "times may be negative, be quoted, and have exponents and more decimals than nanoseconds") {
    CHECK(rows_of(events_of_text(trace_of(complete("a", "-2.5", "1")))) == "a[-2500,-1500]");
    CHECK(rows_of(events_of_text(trace_of(complete("a", "\"7.25\"", "\"1\"")))) == "a[7250,8250]");
    CHECK(rows_of(events_of_text(trace_of(complete("a", "1.5e3", "25E-2")))) ==
          "a[1500000,1500250]");
    CHECK(rows_of(events_of_text(trace_of(complete("a", "0.1234999999", "0.0005")))) ==
          "a[123,124]");
}

TEST_CASE("an end is the exact sum of start and duration, rounded once") {
    const auto read = [](const char* start, const char* duration) {
        return rows_of(events_of_text(trace_of(complete("a", start, duration))));
    };
    CHECK(read("0.0", "1.0004") == "a[0,1000]");
    CHECK(read("0.0006", "0.9996") == "a[1,1000]");
    CHECK(read("1.25", "20.833333333333332") == "a[1250,22083]");
    CHECK(read("2.8333333333333335", "19.25") == "a[2833,22083]");
    CHECK(read("1700000000000000.0004", "0.0001") == "a[1700000000000000000,1700000000000000001]");
    CHECK(read("-0.0006", "0.0001") == "a[-1,-1]");
    CHECK(read("-0.0006", "0.00011") == "a[-1,0]");
    CHECK(read("-2.5006", "1.0001") == "a[-2501,-1501]");
    CHECK(read("6e-4", "9.996e-1") == "a[1,1000]");
    CHECK(read("\"0.0006\"", "\"0.9996\"") == "a[1,1000]");
    CHECK(read("0.0004", "0.00009999999999999999999999999999999999999999") == "a[0,0]");
    CHECK(read("1", "1e-2000000000") == "a[1000,1000]");
}

TEST_CASE("the last of repeated keys counts, even if it follows the arguments") {
    const event_list list = events_of_text(trace_of(
        complete("a", "1", "2", R"(, "args": {"External id": 1, "External id": 7}, "name": "b")")));
    CHECK(rows_of(list) == "b[1000,3000]");
    CHECK(list.rows[0].external_id == 7);
    const event_list twice = events_of_text(trace_of(
        complete("a", "1", "2", R"(, "args": {"External id": 1}, "args": {"correlation": 2})")));
    CHECK(twice.rows[0].external_id == 0);
    CHECK(twice.rows[0].correlation == 2);
}

TEST_CASE("ids of processes and threads are compared as texts") {
    const event_list list = events_of_text(trace_of(
        R"({"ph":"X","name":"a","pid":7,"tid":-1,"ts":1,"dur":1},
           {"ph":"X","name":"b","pid":"7","tid":"-1","ts":1,"dur":1},
           {"ph":"X","name":"c","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":1})"));
    CHECK(list.rows[0].thread == list.rows[1].thread);
    CHECK(lane_of(list, 0) == "7|-1");
    CHECK(lane_of(list, 2) == "Spans|PyTorch Profiler");
    CHECK(list.threads.size() == 2);
}

TEST_CASE("names of processes and threads count before and behind their events") {
    const std::string event = R"({"ph":"X","name":"a","pid":7,"tid":8,"ts":1,"dur":1})";
    const std::string names =
        R"({"ph":"M","name":"process_name","pid":7,"tid":0,"ts":0,"args":{"name":"python \"3\""}},
           {"ph":"M","name":"thread_name","pid":"7","tid":8,"args":{"name":"main"}},
           {"ph":"M","name":"thread_sort_index","pid":7,"tid":8,"args":{"sort_index":8}})";
    for (const bool names_first : {false, true}) {
        std::string events = names_first ? names : event;
        events.append(",").append(names_first ? event : names);
        const event_list list = events_of_text(trace_of(events));
        REQUIRE(list.threads.size() == 1);
        CHECK(list.threads[0].process_name == "python \"3\"");
        CHECK(list.threads[0].name == "main");
    }
}

TEST_CASE("Kineto's categories, and those of 2021, give the kind of an event") {
    const auto read = [](std::string_view category) {
        const event_list list =
            events_of_text("[" + std::string(R"({"ph":"X","cat":")")
                                     .append(category)
                                     .append(R"(","name":"a","ts":1,"dur":1}])"));
        return list.rows.at(0);
    };
    for (const char* each : {"cpu_op", "Operator"}) CHECK(read(each).what == activity::cpu_op);
    for (const char* each : {"cuda_runtime", "cuda_driver", "Runtime"}) {
        CHECK(read(each).what == activity::runtime);
        CHECK(read(each).device == device_kind::cpu);
    }
    for (const char* each : {"kernel", "Kernel"}) {
        CHECK(read(each).what == activity::kernel);
        CHECK(read(each).device == device_kind::cuda);
    }
    for (const char* each : {"gpu_memcpy", "Memcpy"})
        CHECK(read(each).what == activity::gpu_memcpy);
    for (const char* each : {"gpu_memset", "Memset"})
        CHECK(read(each).what == activity::gpu_memset);
    CHECK(read("user_annotation").flags == row_user_annotation);
    CHECK(read("gpu_user_annotation").flags == row_user_annotation);
    CHECK(read("gpu_user_annotation").device == device_kind::cuda);
    CHECK(read("Trace").flags == row_hidden);
    CHECK(read("somebody's").what == activity::other);
}

TEST_CASE("a step's number is in its trace name, not in its name") {
    const event_list list = events_of_text(
        trace_of(complete("ProfilerStep#12", "1", "1") + "," + complete("a", "1", "1")));
    CHECK(rows_of(list) == "ProfilerStep*[1000,2000] a[1000,2000]");
    CHECK(list.text(extra_of(list, 0).trace_name) == "ProfilerStep#12");
    CHECK(list.rows[1].extra == none);
}

TEST_CASE("an op's arguments become its fields") {
    const event_list list =
        events_of_text(trace_of(complete("aten::mm", "1", "1",
                                         R"(, "args": {"External id": 9, "Input Dims": [[2,3], [],
             [4]], "Input type": ["float", "Scalar"], "Input Strides": [[3, 1]],
             "Concrete Inputs": ["", "a, b"], "Sequence number": 5,
             "Call stack": "a.py(1): f;b.py(2): <module>", "Ev Idx": 4})")));
    const event_extra& extra = extra_of(list, 0);
    CHECK(list.rows[0].external_id == 9);
    CHECK(list.text(extra.input_shapes) == "[[2, 3], [], [4]]");
    CHECK(list.text(extra.input_dtypes) == R"(["float", "Scalar"])");
    CHECK(list.text(extra.input_strides) == "[[3, 1]]");
    CHECK(list.text(extra.concrete_inputs) == R"(["", "a, b"])");
    CHECK(extra.sequence_number == 5);
    CHECK(list.text(extra.stack) == "a.py(1): f\nb.py(2): <module>");
    CHECK(extra.metadata == none);
    CHECK((list.shapes && list.stacks));
}

TEST_CASE("an op that runs deferred work names the thread that deferred it") {
    const event_list list = events_of_text(
        trace_of(complete("MulBackward0", "1", "1",
                          R"(, "args": {"Fwd thread id": 3, "Sequence number": 0})") +
                 "," +
                 complete("aten::mul", "3", "1",
                          R"(, "args": {"Fwd thread id": 0, "Sequence number": -1})")));
    CHECK(extra_of(list, 0).forward_thread == 3);
    CHECK(extra_of(list, 0).sequence_number == 0);
    CHECK(list.rows[1].extra == none);
}

TEST_CASE("a device's event has its device, its stream and the ids of its launch") {
    const event_list list = events_of_text(trace_of(
        R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":
            {"External id":14,"device":0,"context":1,"stream":7,"correlation":21,"grid":[1,2,3]}})"));
    CHECK(list.rows[0].external_id == 14);
    CHECK(list.rows[0].correlation == 21);
    CHECK(extra_of(list, 0).device_index == 0);
    CHECK(extra_of(list, 0).device_resource == 7);
    CHECK(list.use_device == "cuda");
}

TEST_CASE("arguments without a field are kept on request") {
    const std::string text = trace_of(complete(
        "a", "1", "1", R"(, "args": {"x": [1,{"y":"z"}], "correlation": 2, "w": -1.5e3})"));
    CHECK(events_of_text(text).rows[0].extra == none);
    const event_list list = events_of_text(text, {.keep_arguments = true});
    CHECK(list.text(extra_of(list, 0).metadata) == R"({"x": [1, {"y": "z"}], "w": -1.5e3})");
}

TEST_CASE("memory marks become memory records, by time") {
    const event_list list = events_of_text(trace_of(
        R"({"ph":"i","s":"t","name":"[memory]","pid":1,"tid":2,"ts":2.5,"args":{"Device Type":1,
            "Device Id":0,"Addr":140000,"Bytes":-512,"Total Allocated":64,"Total Reserved":128}},
           {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":2,"ts":1,"args":{"Device Type":0,
            "Device Id":-1,"Addr":1,"Bytes":32}},
           {"ph":"i","s":"t","name":"[OutOfMemory]","pid":1,"tid":2,"ts":3,"args":{"Bytes":1024}},
           {"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler","pid":"Traces","tid":"T","ts":0})"));
    REQUIRE(list.memory.size() == 3);
    CHECK(list.memory[0].bytes == 32);
    CHECK(list.memory[0].device == device_kind::cpu);
    CHECK(list.memory[1].time_ns == 2500);
    CHECK(list.memory[1].bytes == -512);
    CHECK(list.memory[1].address == 140'000);
    CHECK(list.memory[1].total_allocated == 64);
    CHECK(list.memory[1].total_reserved == 128);
    CHECK(list.memory[1].device == device_kind::cuda);
    CHECK(list.memory[2].out_of_memory);
    CHECK(list.memory_profile);
}

TEST_CASE("arrows are kept unchanged, dangling ends included") {
    const event_list list = events_of_text(trace_of(
        R"({"ph":"s","cat":"ac2g","name":"ac2g","id":14,"pid":1,"tid":2,"ts":1},
           {"ph":"f","cat":"ac2g","name":"ac2g","id":"0xe","pid":1,"tid":2,"ts":2,"bp":"e"},
           {"ph":"f","cat":"ac2g","name":"ac2g","id":99,"pid":1,"tid":-3,"ts":3.001,"bp":"e"})"));
    REQUIRE(list.flows.size() == 3);
    CHECK(list.flows[0].start);
    CHECK(list.flows[1].id == 14);
    CHECK_FALSE(list.flows[1].start);
    CHECK(list.flows[2].time_ns == 3001);
    CHECK(list.text(list.flows[2].category) == "ac2g");
    CHECK(list.health.warnings.empty());
}

TEST_CASE("a begin and an end on a lane are one event, and events nest") {
    const event_list list = events_of_text(trace_of(
        R"({"ph":"B","name":"outer","pid":1,"tid":1,"ts":1}, {"ph":"B","name":"inner","pid":1,"tid":1,"ts":2},
           {"ph":"B","name":"other","pid":1,"tid":2,"ts":2}, {"ph":"E","pid":1,"tid":1,"ts":3},
           {"ph":"E","name":"outer","pid":1,"tid":1,"ts":4}, {"ph":"E","pid":1,"tid":2,"ts":9})"));
    CHECK(rows_of(list) == "outer[1000,4000] other[2000,9000] inner[2000,3000]");
    CHECK(list.health.warnings.empty());
}

/// Marks such as "B x 1 E x 2" as events of one lane.
std::string marks_of(const std::string& marks) {
    std::string text;
    std::istringstream in(marks);
    for (std::string phase, name, time; in >> phase >> name >> time;)
        text.append(text.empty() ? "" : ",\n")
            .append(R"({"ph":")")
            .append(phase)
            .append(R"(","name":")")
            .append(name)
            .append(R"(","pid":1,"tid":1,"ts":)")
            .append(time)
            .append("}");
    return trace_of(text);
}

TEST_CASE("begins and ends in any file order are paired in time order") {
    const auto read = [](const char* marks) {
        const event_list list = events_of_text(marks_of(marks));
        std::string text = rows_of(list);
        for (const std::string& each : list.health.warnings)
            text += "; " + each.substr(0, 4) + each.substr(each.rfind(' '));
        return text;
    };
    CHECK(read("B a 0 B b 100 E a 50 E b 150") == "a[0,50000] b[100000,150000]");
    CHECK(read("B a 0 B b 10 B c 20 E a 5 E b 15 E c 25") == "a[0,5000] b[10000,15000] "
                                                             "c[20000,25000]");
    // In reverse order, with an end and a begin at one time, and with an event that begins with its
    // parent.
    CHECK(read("E b 20 B b 10 E a 10 E in 4 B in 0 B a 0") ==
          "a[0,10000] in[0,4000] b[10000,20000]");
    // Blocks in reverse order. Each block is in time order.
    CHECK(read("E in 33 E o 39 B o 40 B in 41 E in 43 E o 49 B o 0 B in 1 E in 3 E o 9 B o 30 B in "
               "31") ==
          "o[0,9000] in[1000,3000] o[30000,39000] in[31000,33000] o[40000,49000] in[41000,43000]");
    // Grouped by phase. At one time the end comes first.
    CHECK(read("B a 0 B b 10 B c 20 E a 10 E b 20 E c 30") ==
          "a[0,10000] b[10000,20000] c[20000,30000]");
    // Events without length: a begin and the end behind it, or an end for which no earlier event is
    // open.
    CHECK(read("B o 0 B z 10 E z 10 E o 20 B p -9 E p -8") == "p[-9000,-8000] o[0,20000] "
                                                              "z[10000,10000]");
    CHECK(read("B p 90 E p 95 B o 0 B z 10 B y 10 E y 10 E z 10 E o 20") ==
          "o[0,20000] z[10000,10000] y[10000,10000] p[90000,95000]");
    CHECK(read("B b 30 B z 10 B a 0 E b 40 E z 10 E a 5") ==
          "a[0,5000] z[10000,10000] b[30000,40000]");
    // Ends without a begin, and begins without an end.
    CHECK(read("E x 5 B a 5 E a 7 E x 8 B b 1 E b 2") == "b[1000,2000] a[5000,7000]; ends 2");
    CHECK(read("B a 100 E a 50") == "a[100000,100000]; even 1; ends 1");
}

TEST_CASE("an event without an end lasts as long as the event around it, and is counted") {
    const event_list list = events_of_text(trace_of(
        complete("parent", "1", "10") + "," + complete("last", "50", "50") +
        R"(, {"ph":"B","name":"a","pid":1,"tid":1,"ts":2}, {"ph":"B","name":"b","pid":1,"tid":2,"ts":3},
             {"ph":"X","name":"c","pid":1,"tid":2,"ts":4}, {"ph":"E","pid":1,"tid":3,"ts":5})"));
    CHECK(rows_of(list) == "parent[1000,11000] a[2000,11000] b[3000,100000] c[4000,100000] "
                           "last[50000,100000]");
    CHECK((list.rows[1].flags & row_unfinished) != 0);
    REQUIRE(list.health.warnings.size() == 2);
    CHECK(list.health.warnings[0].ends_with("the enclosing event: 3"));
    CHECK(list.health.warnings[1].starts_with("ends of events without a beginning"));
}

TEST_CASE("asynchronous events are matched by category, id and scope") {
    const event_list list = events_of_text(trace_of(
        R"({"ph":"b","cat":"net","name":"get","id":"0x1","pid":1,"tid":1,"ts":1},
           {"ph":"b","cat":"disk","name":"read","id":"0x1","pid":1,"tid":1,"ts":2},
           {"ph":"b","cat":"net","name":"put","id":"0x1","scope":"s","pid":1,"tid":1,"ts":3},
           {"ph":"n","cat":"net","name":"get","id":"0x1","pid":1,"tid":1,"ts":3},
           {"ph":"e","cat":"net","name":"get","id":"0x1","pid":1,"tid":2,"ts":4},
           {"ph":"e","cat":"disk","name":"read","id":"0x1","pid":1,"tid":1,"ts":6},
           {"ph":"e","cat":"net","name":"put","id":"0x1","scope":"s","pid":1,"tid":1,"ts":8},
           {"ph":"b","cat":"net","name":"p1","id2":{"local":"1"},"pid":1,"tid":1,"ts":10},
           {"ph":"b","cat":"net","name":"p2","id2":{"local":"1"},"pid":2,"tid":1,"ts":11},
           {"ph":"e","cat":"net","name":"p1","id2":{"local":"1"},"pid":1,"tid":1,"ts":12},
           {"ph":"e","cat":"net","name":"p2","id2":{"local":"1"},"pid":2,"tid":1,"ts":13})"));
    CHECK(rows_of(list) ==
          "get[1000,4000] read[2000,6000] put[3000,8000] p1[10000,12000] p2[11000,13000]");
    CHECK((list.rows[0].flags & row_async) != 0);
    const event_thread& end = list.threads.at(extra_of(list, 0).end_thread);
    CHECK(list.text(end.thread) == "2");
    CHECK(list.rows[1].extra == none);
    CHECK(list.health.warnings.empty());
}

TEST_CASE("asynchronous events of one id that overlap are matched by their names") {
    for (const char* phases : {"be", "SF"}) {
        const auto at = [&](int which, const char* name, const char* time) {
            const std::string field =
                *name == '\0' ? std::string() : ",\"name\":\"" + std::string(name) + "\"";
            return R"({"ph":")" + std::string(1, phases[which]) +
                   R"(","cat":"c","id":"0x1","pid":1,"tid":1,"ts":)" + time + field + "}";
        };
        CHECK(rows_of(events_of_text(trace_of(
                  at(0, "load", "0") + "," + at(0, "paint", "10") + "," + at(1, "load", "20") +
                  "," + at(1, "paint", "100")))) == "load[0,20000] paint[10000,100000]");
        CHECK(rows_of(events_of_text(trace_of(at(0, "a", "0") + "," + at(0, "b", "1") + "," +
                                              at(0, "a", "2") + "," + at(1, "b", "3") + "," +
                                              at(1, "", "4") + "," + at(1, "", "5")))) ==
              "a[0,5000] b[1000,3000] a[2000,4000]");
        CHECK(events_of_text(trace_of(at(0, "a", "0") + "," + at(1, "b", "3")))
                  .health.warnings.size() == 2);
    }
}

TEST_CASE("asynchronous events that end before they begin count as 0, and are counted") {
    const event_list list = events_of_text(
        R"([{"ph":"b","cat":"x","name":"a","id":1,"pid":1,"tid":1,"ts":100},
            {"ph":"e","cat":"x","name":"a","id":1,"pid":1,"tid":1,"ts":50}])");
    CHECK(rows_of(list) == "a[100000,100000]");
    REQUIRE(list.health.warnings.size() == 1);
    CHECK(list.health.warnings[0] == "events with a negative duration, taken as 0: 1");
}

TEST_CASE("escapes in names are resolved") {
    const event_list list =
        events_of_text(trace_of(complete(R"(a\"b\\\n\u00e9\ud83d\ude00\ud83d!)", "1", "1")));
    CHECK(list.text(list.rows[0].name) == "a\"b\\\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd!");
}

}  // namespace
