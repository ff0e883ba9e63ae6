// SPDX-License-Identifier: Apache-2.0
#include "overhead.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <coroscope/coroscope.hpp>

#include "checked.hpp"
#include "cupti_alone.hpp"
#include "kernels.hpp"

namespace cuda_pipeline {
namespace {

constexpr std::array<const char*, 3> watcher_names = {"none", "cupti", "coroscope"};
constexpr std::array<const char*, 3> watcher_titles = {
    "no profiling", "CUPTI alone, records discarded", "Coroscope"};

constexpr int batches = 200;
constexpr int launches_per_batch =
    500;  // fewer than a stream takes before launches wait for the device

double median(std::vector<double> of) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
}

double launch_batch(const owned_stream& stream) {
    const auto begin = std::chrono::steady_clock::now();
    for (int each = 0; each < launches_per_batch; ++each)
        check(launch_nothing(stream.get()), "the empty kernel");
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    return took.count() / launches_per_batch;
}

// A task launches, as the pipeline's do.
coroscope::task<double> median_of_batches() {
    COROSCOPE_FUNCTION();
    const owned_stream stream;
    launch_batch(stream);
    std::vector<double> found;
    for (int each = 0; each < batches; ++each) found.push_back(launch_batch(stream));
    co_return median(std::move(found));
}

// The line that another process prints.
std::optional<double> measure_elsewhere(const std::string& program, const char* with) {
    const std::string command = "'" + program + "' --measure " + with;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(::popen(command.c_str(), "r"),
                                                                 ::pclose);
    double found = 0;
    if (output == nullptr || std::fscanf(output.get(), "%lf", &found) != 1) return std::nullopt;
    return found;
}

}  // namespace

bool parse(std::string_view name, watcher& found) {
    const auto at = std::find(watcher_names.begin(), watcher_names.end(), name);
    if (at == watcher_names.end()) return false;
    found = static_cast<watcher>(at - watcher_names.begin());
    return true;
}

void measure_launches(watcher with) {
    check(cudaFree(nullptr), "the device");  // its context, before anything is measured
    std::optional<cupti_alone> cupti;
    std::optional<coroscope::profile> session;
    if (with == watcher::cupti) cupti.emplace();
    if (with == watcher::coroscope) {
        session.emplace(coroscope::profile_options{.all_threads = true, .use_device = "cuda"});
        const std::string message = session->status().message;  // or only some kinds are refused
        if (message.starts_with("Devices are not recorded")) throw std::runtime_error(message);
    }
    std::printf("%.1f\n", coroscope::sync_wait(median_of_batches()));
}

bool compare_overheads(const char* program, int rounds) {
    std::array<std::vector<double>, watcher_names.size()> found;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t with = 0; with < watcher_names.size(); ++with) {
            const std::optional<double> one = measure_elsewhere(program, watcher_names[with]);
            if (!one) {
                std::fprintf(stderr, "cuda_pipeline: --measure %s gave no figure\n",
                             watcher_names[with]);
                return false;
            }
            found[with].push_back(*one);
        }
    }
    const double bare = median(found[0]);
    std::printf(
        "| launch of an empty kernel | ns, median of %d | beyond no profiling |\n|---|---|---|\n",
        rounds);
    for (std::size_t with = 0; with < watcher_names.size(); ++with) {
        const double here = median(found[with]);
        std::printf("| %s | %.0f | %+.0f |\n", watcher_titles[with], here, here - bare);
    }
    return true;
}

}  // namespace cuda_pipeline
