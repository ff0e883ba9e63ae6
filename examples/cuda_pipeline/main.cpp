// SPDX-License-Identifier: Apache-2.0

// Batched requests on a GPU, awaited by coroutines, and a trace that is compared with the actual
// work; see README.md.

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/integration/cuda.hpp>
#include <coroscope/profile.hpp>

#include "attribution.hpp"
#include "cupti_search.hpp"
#include "overhead.hpp"
#include "pipeline.hpp"

namespace {

using namespace cuda_pipeline;

constexpr int exit_skipped = 77;

struct options {
    workload work;
    const char* trace = nullptr;  // null: in memory
    int overhead_rounds = 0;      // 0: not asked for
    std::optional<watcher> measure;
};

template <class Number>
bool parse_count(std::string_view text, Number& count) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    return error == std::errc() && end == text.data() + text.size() && count >= 1;
}

bool take(options& chosen, std::string_view name, const char* value) {
    if (name == "--launches") return parse_count(value, chosen.work.launches);
    if (name == "--streams") return parse_count(value, chosen.work.streams);
    if (name == "--threads") return parse_count(value, chosen.work.threads);
    if (name == "--overhead") return parse_count(value, chosen.overhead_rounds);
    if (name == "--trace") return chosen.trace = value, true;
    return name == "--measure" && parse(value, chosen.measure.emplace());
}

std::optional<options> parse_options(int count, char** arguments) {
    options chosen;
    for (int at = 1; at < count; at += 2)
        if (at + 1 == count || !take(chosen, arguments[at], arguments[at + 1])) return std::nullopt;
    return chosen;
}

int fail(const std::string& message) {
    std::fprintf(stderr, "cuda_pipeline: %s\n", message.c_str());
    return EXIT_FAILURE;
}

coroscope::analysis::result<coroscope::analysis::trace>
record(const options& chosen, pipeline& work, std::vector<stream_history>& histories) {
    coroscope::profile session({.output = chosen.trace,
                                .all_threads = true,
                                .policy = coroscope::overflow::wait,
                                .use_device = "cuda"});
    histories = work.run();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // work in flight would be lost
    const coroscope::trace::buffer bytes = session.stop();
    return chosen.trace == nullptr ? coroscope::analysis::load(bytes)
                                   : coroscope::analysis::load(chosen.trace);
}

int run_pipeline(const options& chosen) {
    pipeline work(chosen.work);
    std::vector<stream_history> histories;
    const auto loaded = record(chosen, work, histories);
    if (!loaded) return fail(loaded.error().message);
    std::fputs(coroscope::analysis::summary(*loaded).c_str(), stdout);
    const attribution found = check_attribution(*loaded, chosen.work, histories);
    const coroscope::cuda::recorded_work told = coroscope::cuda::latest_recorded_work();
    const bool agree = times_agree(found, told);
    std::printf("\nattribution: %llu kernels of %llu requests on %u streams and %u threads; %llu "
                "wrong, %llu missing\n"
                "queue times: %llu kernels have one\n"
                "device time: %lld ns in the trace, %llu ns by CUPTI (%llu activities): %s\n"
                "results: %llu wrong\n",
                static_cast<unsigned long long>(found.kernels),
                static_cast<unsigned long long>(chosen.work.requests()), chosen.work.streams,
                chosen.work.threads, static_cast<unsigned long long>(found.wrong),
                static_cast<unsigned long long>(found.missing),
                static_cast<unsigned long long>(found.with_queue_time),
                static_cast<long long>(found.device_time_ns),
                static_cast<unsigned long long>(told.device_time_ns),
                static_cast<unsigned long long>(told.activities), agree ? "equal" : "NOT EQUAL",
                static_cast<unsigned long long>(work.wrong_results()));
    for (const std::string& each : found.problems)
        std::fprintf(stderr, "cuda_pipeline: %s\n", each.c_str());
    return found.good() && agree && work.wrong_results() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Throws if CUDA or CUPTI fails.
void print_device() {
    int driver = 0, runtime = 0;
    cudaDeviceProp device{};
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    std::printf(
        "device: %s, compute capability %d.%d; CUDA %d.%d by its driver, %d.%d by the runtime; "
        "CUPTI %u\n\n",
        device.name, device.major, device.minor, driver / 1000, driver % 1000 / 10, runtime / 1000,
        runtime % 1000 / 10, static_cast<unsigned>(cupti_version()));
}

int run(const options& chosen, const char* program) {
    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0) {
        std::printf("SKIP: cuda_pipeline needs a GPU: %s\n",
                    found == cudaSuccess ? "there is none" : cudaGetErrorString(found));
        return exit_skipped;
    }
    if (chosen.measure) return measure_launches(*chosen.measure), EXIT_SUCCESS;
    print_device();
    if (chosen.overhead_rounds != 0)
        return compare_overheads(program, chosen.overhead_rounds) ? EXIT_SUCCESS : EXIT_FAILURE;
    return run_pipeline(chosen);
}

}  // namespace

int main(int count, char** arguments) {
    const std::optional<options> chosen = parse_options(count, arguments);
    if (!chosen) {
        std::fputs("cuda_pipeline: usage: cuda_pipeline [--launches N] [--streams N] [--threads N] "
                   "[--trace FILE.cst]"
                   " | --overhead ROUNDS | --measure none|cupti|coroscope\n",
                   stderr);
        return 2;
    }
    try {
        return run(*chosen, arguments[0]);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
