// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>

#include <zlib.h>

#include "seeds.hpp"

namespace coroscope_fuzz {
namespace {

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

/// A trace as newer versions of Kineto write it.
constexpr std::string_view newer =
    R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "a device"}],
"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "with_stack": 1, "with_flops": 1, "profile_memory": 1,
"record_shapes": 1, "trace_id": "0af7", "displayTimeUnit": "ms", "baseTimeNanoseconds": 1712345678000000000, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": 19.001, "dur": 4.5,
 "args": {"External id": 7, "Record function id": 0, "Input Dims": [[2, 3], [], [[4]]], "Input type": ["float", "", "TensorList"],
  "Input Strides": [[3, 1], [], [[1]]], "Concrete Inputs": ["", "1", ""], "Kwinputs": {"alpha": 2}, "Overload name": "Tensor",
  "Call stack": "inner;outer", "Module Hierarchy": "net.layer", "Ev Idx": 1}},
{"ph": "X", "cat": "cpu_op", "name": "AddBackward0", "pid": 1, "tid": 3, "ts": 30, "dur": 2,
 "args": {"External id": 8, "Sequence number": 12, "Fwd thread id": 2}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 2, "ts": 10, "dur": 40, "args": {}},
{"ph": "X", "cat": "python_function", "name": "f.py:1 f", "pid": 1, "tid": 2, "ts": 11, "dur": 9,
 "args": {"Python id": 1, "Python parent id": null}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 21, "dur": 1,
 "args": {"device": 0, "stream": 7, "correlation": 4, "bytes": 64}},
{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 50}
]})";

/// Whole arrows, one with a step, ends without a begin, of two lanes, and a repeated id.
constexpr std::string_view arrows = R"({"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "from", "pid": 1, "tid": 1, "ts": 1, "dur": 5},
{"ph": "X", "cat": "cpu_op", "name": "to", "pid": 1, "tid": 2, "ts": 4, "dur": 5},
{"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 2, "cat": "fwdbwd", "name": "fwdbwd"},
{"ph": "t", "id": 1, "pid": 1, "tid": 1, "ts": 3, "cat": "fwdbwd", "name": "fwdbwd"},
{"ph": "f", "id": 1, "pid": 1, "tid": 2, "ts": 4, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
{"ph": "s", "id": "0x1", "pid": 1, "tid": 1, "ts": 2, "cat": "ac2g", "name": "ac2g"},
{"ph": "s", "id": "0x1", "pid": 1, "tid": 1, "ts": 3, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "id2": {"local": "0x2"}, "pid": 1, "tid": 9, "ts": 4, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "pid": 1, "tid": 2, "ts": 4, "cat": "ac2g", "name": "ac2g"}
]})";

/// Records of memory without totals, without a device, one of a failed allocation, and one without
/// arguments.
constexpr std::string_view memory = R"({"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 1, "dur": 5},
{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2, "s": "t", "args": {"Bytes": 64, "Addr": 16, "Device Type": 0}},
{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 3, "s": "t", "args": {"Bytes": -64, "Addr": 16}},
{"ph": "i", "name": "[OutOfMemory]", "pid": 1, "tid": 1, "ts": 4, "s": "t", "args": {"Bytes": 4096, "Device Type": 1, "Device Id": 1}},
{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "s": "t"}
]})";

/// One member of a gzip file.
std::string compressed(std::string_view text) {
    constexpr int gzip_window = 15 + 16;  // the largest window, and gzip's frame around it
    constexpr int usual_memory = 8;
    z_stream stream{};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, usual_memory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        std::abort();
    std::string bytes(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    return bytes;
}

}  // namespace

void add_event_seeds(const seed_folder& events) {
    events.add("kineto", kineto);
    events.add("newer", newer);
    events.add("pairs", pairs);
    events.add("arrows", arrows);
    events.add("memory", memory);
    events.add("gzip", compressed(kineto));
    const std::size_t half = kineto.size() / 2;
    events.add("gzip-members", compressed(kineto.substr(0, half)) +
                                   compressed(kineto.substr(half)) + std::string(8, '\0'));
    const std::string whole = compressed(newer);
    events.add("gzip-cut", std::string_view(whole).substr(0, whole.size() / 2));
}

}  // namespace coroscope_fuzz
