// SPDX-License-Identifier: Apache-2.0

// Chrome traces of other profilers: how fast they are loaded, and in how much memory.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/load_events.hpp>
#include <simdjson.h>

#include "harness.hpp"
#include "once.hpp"
#include "whole_traces.hpp"

namespace bench {
namespace {

constexpr std::uint64_t operations = 200'000;
constexpr std::uint64_t events_per_operation = 4;

/// Kineto's events around an operation: the operation, the call that launches its kernel, the
/// kernel, and an arrow.
void write_operation(std::FILE* file, std::uint64_t number) {
    const auto id = static_cast<unsigned long long>(number);
    const unsigned long long begin = 1'419'247'332'972 + id * 40;
    std::fprintf(
        file,
        R"json({"ph": "X", "cat": "cpu_op", "name": "aten::operation_%llu", "pid": 19392, "tid": 19392,
 "ts": %llu.%03llu, "dur": 30.250, "args": {"External id": %llu, "Sequence number": %llu, "Fwd thread id": 0,
 "Input Dims": [[%llu, 512], []], "Input type": ["float", "Scalar"], "Ev Idx": %llu}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 19392, "tid": 19392,
 "ts": %llu.%03llu, "dur": 7.125, "args": {"External id": %llu, "cbid": 211, "correlation": %llu}},
{"ph": "X", "cat": "kernel", "name": "void vectorized_kernel<4, float>(int, float*, float*)", "pid": 0, "tid": 7,
 "ts": %llu.%03llu, "dur": 3.136, "args": {"External id": %llu, "device": 0, "context": 1, "stream": 7,
 "correlation": %llu, "registers per thread": 32, "grid": [8, 1, 1], "block": [128, 1, 1]}},
{"ph": "s", "id": %llu, "pid": 19392, "tid": 19392, "ts": %llu.000, "cat": "ac2g", "name": "ac2g"},
)json",
        id % 40, begin, id % 1000, id, id, id % 64, id, begin + 5, id % 1000, id, id, begin + 20,
        id % 1000, id, id, id, begin + 5);
}

/// A trace in a temporary file. The destructor removes the file.
class chrome_file {
public:
    chrome_file() {
        const char* folder = std::getenv("TMPDIR");
        path_ = std::string(folder != nullptr ? folder : "/tmp") + "/coroscope-bench-XXXXXX";
        const int descriptor = mkstemp(path_.data());
        std::FILE* const file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
        if (file == nullptr) return;
        std::fputs("{\"schemaVersion\": 1, \"traceEvents\": [\n", file);
        for (std::uint64_t each = 0; each < operations; ++each) write_operation(file, each + 1);
        std::fputs("{}]}\n", file);
        size_ = static_cast<double>(std::ftell(file));
        std::fclose(file);
    }
    ~chrome_file() { unlink(path_.c_str()); }
    chrome_file(const chrome_file&) = delete;
    chrome_file& operator=(const chrome_file&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] double size() const { return size_; }

private:
    std::string path_;
    double size_ = 0;
};

/// Returns the number of events in the table; 0 if the trace could not be loaded.
std::uint64_t load_and_sum(const chrome_file& file) {
    namespace analysis = coroscope::analysis;
    const auto loaded = analysis::load_events(file.path());
    std::uint64_t counted = 0;
    if (!loaded) return counted;
    for (const auto& each : analysis::key_averages(*loaded)) counted += each.count;
    return counted;
}

constexpr std::uint64_t intervals = operations * (events_per_operation - 1);
const char* note(std::uint64_t counted) {
    return counted == intervals ? "" : "not every event was counted";
}

// The floor: visits each field of each event. Returns the bytes of their names and values; 0: the
// text is not such a trace.
std::uint64_t look_at_fields(const simdjson::padded_string& text) {
    namespace ondemand = simdjson::ondemand;
    ondemand::parser parser;
    ondemand::document document;
    ondemand::array events;
    if (parser.iterate(text).get(document) != simdjson::SUCCESS ||
        document["traceEvents"].get_array().get(events) != simdjson::SUCCESS)
        return 0;
    std::uint64_t bytes = 0;
    for (auto each : events) {
        ondemand::object event;
        if (each.get_object().get(event) != simdjson::SUCCESS) return 0;
        for (auto field : event) {
            std::string_view name;
            ondemand::value value;
            if (field.unescaped_key().get(name) != simdjson::SUCCESS ||
                field.value().get(value) != simdjson::SUCCESS)
                return 0;
            bytes += name.size() + value.raw_json_token().size();
        }
    }
    return bytes;
}

once_result load_chrome() {
    const chrome_file file;
    std::uint64_t counted = 0;
    const auto bytes = static_cast<std::uint64_t>(file.size());
    const double value = rate(bytes, [&] { counted = load_and_sum(file); });
    simdjson::padded_string text;
    if (simdjson::padded_string::load(file.path()).get(text) != simdjson::SUCCESS)
        return {0, {}, "there is no file"};
    const double floor = rate(bytes, [&] { keep(look_at_fields(text)); });
    return {value, floor, note(counted)};
}

double most_bytes_of_memory() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) * 1024;
}

once_result load_chrome_memory() {
    const chrome_file file;
    const double before = most_bytes_of_memory();
    const std::uint64_t counted = load_and_sum(file);
    return {(most_bytes_of_memory() - before) / file.size(), {}, note(counted)};
}

}  // namespace

std::vector<once_row> chrome_rows() {
    return {
        {"load.chrome", "MB/s", load_chrome},
        {"memory.load_chrome", "x", load_chrome_memory},
    };
}

}  // namespace bench
