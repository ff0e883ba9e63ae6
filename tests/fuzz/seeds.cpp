// SPDX-License-Identifier: Apache-2.0

// What the fuzzers begin with: one well-formed input for each part of a format.
//
//     fuzz_seeds FOLDER      writes FOLDER/native, FOLDER/packed, FOLDER/events, FOLDER/nvprof, FOLDER/nsight

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

#include <coroscope/trace/pack.hpp>

#include "trace_builder.hpp"

namespace {

using namespace coroscope;
using test::trace_builder;

class seed_folder {
public:
    explicit seed_folder(const std::filesystem::path& where) : where_(where) {
        std::filesystem::create_directories(where);
    }
    void add(std::string_view name, std::string_view bytes) const {
        std::ofstream(where_ / name, std::ios::binary) << bytes;
    }
    void add(std::string_view name, const trace_builder& built) const {
        const auto bytes = built.bytes();
        add(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }

private:
    std::filesystem::path where_;
};

trace_builder scopes() {
    trace_builder trace;
    const auto outer = trace.site("outer");
    const auto inner = trace.site("inner", "a.cpp", 2);
    trace.on(1).scope(inner, 10, 20).scope(inner, 30, 40).scope(outer, 5, 50);
    trace.on(2).long_scope(inner, 1, 90, trace::scope_in_frame | trace::scope_exact, 7);
    return std::move(trace.lasts(1000));
}

trace_builder tasks() {
    trace_builder trace;
    const auto spawned = trace.site("work", "b.cpp", 3, trace::site_kind::coroutine);
    const auto awaited = trace.site("wait", "b.cpp", 4, trace::site_kind::await);
    trace.on(1)
        .spawn(10, 1, spawned, trace::spawn_started)
        .spawn(12, 2, spawned, trace::spawn_ready, 1)
        .awaiting(13, 1, 2)
        .suspend(14, 1, awaited)
        .resume(15, 2)
        .finish(30, 2);
    trace.on(2).wake(31, 1, 2, 1).resume(40, 1).suspend(44, 1, awaited).cancel(45, 1).finish(60, 1);
    trace.on(3).adopt(9, spawned).transfer(70, 9, 10, awaited).finish_transfer(80, 10, 9);
    return std::move(trace.lasts(1000));
}

trace_builder texts() {
    trace_builder trace;
    const auto named = trace.site("named");
    trace.on(1)
        .label(5, 1, "label of run time")
        .item(6, 1, 0)
        .item(8, 1, 1)
        .long_scope(1, 5, 50, trace::scope_dynamic | trace::scope_explicit | trace::scope_range)
        .arguments(10, named, "a=1, b=two")
        .note(10, trace::note_kind::inputs, "[[2, 3]]\n[[3, 1]]\n[\"float\"]\n[]")
        .note(10, trace::note_kind::stack, std::string_view("\x10\0\0\0\0\0\0\0", 8))
        .note(10, trace::note_kind::sequence,
              std::string_view("\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16))
        .scope(named, 10, 20)
        .memory(12, trace::memory_event::allocated, 4096, 64, 64, 128)
        .memory(15, trace::memory_event::released, 4096, 64, 0, 128);
    trace.module(0, 4096, "/bin/true", "abcdef");
    return std::move(trace.lasts(1000));
}

trace_builder devices() {
    trace_builder trace;
    const auto kernel = trace.site("kernel", "", 0, trace::site_kind::operation);
    trace.header.devices = 1;
    trace.device_name(0, "a device");
    trace.on(1)
        .device_call(10, 20, 5, kernel, 1, 3)
        .device({.start = 25, .end = 60, .site = kernel, .task = 3, .correlation = 5})
        .device_wait(22, 3)
        .suspend(23, 3)
        .resume(70, 3);
    return std::move(trace.lasts(1000));
}

trace_builder killed() {
    trace_builder trace = tasks();
    trace.leave_open();
    trace.live_task({.task = 3, .spawn_ticks = 5, .parent = 1, .site = 1, .flags = 0});
    return trace;
}

constexpr std::string_view kineto = R"({"schemaVersion": 1, "record_shapes": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": "2", "ts": 1.5, "dur": 10,
 "args": {"External id": 7, "Input Dims": [[2, 3], []], "Sequence number": 4, "Fwd thread id": 0}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 2, "dur": 1,
 "args": {"correlation": 9, "External id": 7}},
{"ph": "X", "cat": "kernel", "name": "gemm<\u00e9\n>", "pid": 0, "tid": -7, "ts": 5, "dur": 0.25,
 "args": {"correlation": 9, "device": 0, "stream": 7}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 3, "s": "t",
 "args": {"Bytes": -64, "Addr": 16, "Total Allocated": 0, "Device Type": 1, "Device Id": 0}},
{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "main"}},
{"ph": "s", "id": 4, "pid": 1, "tid": 2, "ts": 2, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "id": 4, "pid": 0, "tid": -7, "ts": 5, "cat": "ac2g", "name": "ac2g", "bp": "e"}
], "traceName": "x"})";

constexpr std::string_view pairs = R"([
{"ph":"B","name":"a","pid":"p","tid":"t","ts":"1"},{"ph":"B","name":"b","pid":"p","tid":"t","ts":2e0},
{"ph":"E","pid":"p","tid":"t","ts":3},{"ph":"E","pid":"p","tid":"t","ts":4},
{"ph":"b","name":"c","cat":"x","id":"0x1","pid":1,"tid":1,"ts":1},{"ph":"n","name":"c","cat":"x","id":"0x1","ts":2},
{"ph":"e","name":"c","cat":"x","id":"0x1","pid":1,"tid":1,"ts":1e3},{"ph":"C","name":"d","ts":1,"args":{"v":1}},
{"ph":"X","name":"e","pid":1,"tid":1,"ts":1,"ts":2,"dur":1})";

std::string packed_bytes(const trace_builder& built) {
    std::string bytes;
    const auto packed = trace::pack(built.finish(), [&bytes](std::string_view part) {
        bytes.append(part);
        return true;
    });
    return packed ? bytes : std::string();
}

/// Rows of small numbers: each is a table and, for its columns, what is in them.
std::string rows(std::initializer_list<std::initializer_list<int>> all) {
    constexpr char small_number = 5;
    std::string bytes;
    for (const auto& row : all) {
        bytes += static_cast<char>(*row.begin());
        for (const int* each = row.begin() + 1; each != row.end(); ++each) {
            bytes += small_number;
            bytes += static_cast<char>(*each);
        }
    }
    return bytes;
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    const std::filesystem::path folder = words[1];
    const seed_folder native(folder / "native");
    native.add("scopes", scopes());
    native.add("tasks", tasks());
    native.add("texts", texts());
    native.add("devices", devices());
    native.add("killed", killed());
    const seed_folder packed(folder / "packed");
    packed.add("whole", texts());
    packed.add("scopes", packed_bytes(scopes()));
    packed.add("tasks", packed_bytes(tasks()));
    packed.add("texts", packed_bytes(texts()));
    packed.add("devices", packed_bytes(devices()));
    packed.add("killed", packed_bytes(killed()));
    const seed_folder events(folder / "events");
    events.add("kineto", kineto);
    events.add("pairs", pairs);
    // A kernel that a marker's call launched.
    const seed_folder nvprof(folder / "nvprof");
    nvprof.add("launch", std::string("\0\5\1\3\1a", 6) + rows({{1, 1, 2, 1, 1, 0, 0, 1, 0},
                                                               {1, 2, 2, 9, 1, 0, 0, 0, 0},
                                                               {2, 1, 13, 2, 3, 1, 1, 5, 0},
                                                               {3, 1, 4, 6, 5, 0, 7, 1}}));
    const seed_folder nsight(folder / "nsight");
    nsight.add("launch", std::string("\0\5\1\3\1a", 6) + rows({{2, 2, 3, 1, 5, 1},
                                                               {3, 4, 6, 0, 7, 5, 1},
                                                               {4, 7, 8, 0, 7, 6, 1},
                                                               {5, 8, 9, 0, 7, 6},
                                                               {1, 1, 9, 59, 0, 1, 1, 1, 0},
                                                               {6, 15}}));
}
