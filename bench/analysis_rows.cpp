// SPDX-License-Identifier: Apache-2.0

// Whole traces: how fast they are loaded and exported, and in how much memory.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/load_averages.hpp>
#include <coroscope/analysis/perfetto.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/trace/jobs.hpp>
#include <coroscope/trace/reader.hpp>

#include "harness.hpp"
#include "once.hpp"
#include "whole_traces.hpp"

namespace bench {
namespace {

constexpr std::uint64_t scopes_per_request = 8;

// Three levels of scopes, like those of a service.
void request() {
    COROSCOPE("request");
    {
        COROSCOPE("parse");
        COROSCOPE("tokens");
    }
    {
        COROSCOPE("query");
        for (int row = 0; row < 3; ++row) {
            COROSCOPE("row");
            clobber();
        }
    }
    COROSCOPE("render");
}

}  // namespace

coroscope::trace::buffer trace_of(std::uint64_t scopes) {
    coroscope::profile session{{.all_threads = true, .policy = coroscope::overflow::wait}};
    for (std::uint64_t done = 0; done < scopes; done += scopes_per_request) request();
    return session.stop();
}

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::uint64_t look_at(const coroscope::trace::buffer& bytes) {
    std::uint64_t sum = 0;
    const auto reader = coroscope::trace::reader::open(bytes);
    if (!reader) return sum;
    for (const auto& chunk : reader->chunks()) {
        coroscope::trace::for_each_record(
            chunk, [&sum](const coroscope::trace::record_view& record) { sum += record.tag; });
    }
    return sum;
}

namespace {

once_result load_native() {
    constexpr std::uint64_t scopes = 4'000'000;
    const coroscope::trace::buffer bytes = trace_of(scopes);
    std::uint64_t counted = 0;
    const double floor = rate(scopes, [&] { keep(look_at(bytes)); });
    const double value = rate(scopes, [&] {
        const auto loaded = coroscope::analysis::load(bytes);
        counted = 0;
        if (!loaded) return;
        for (const auto& each : coroscope::analysis::key_averages(*loaded)) counted += each.count;
    });
    return {value, floor, counted == scopes ? "" : "not every scope was counted"};
}

/// Adds up the scopes of a trace, and returns their number.
std::uint64_t count_by_table(const coroscope::trace::buffer& bytes, unsigned jobs) {
    std::uint64_t counted = 0;
    const auto found = coroscope::analysis::load_averages(bytes, {.jobs = jobs});
    if (!found) return counted;
    for (const auto& each : std::get<coroscope::analysis::trace_averages>(*found).rows)
        counted += each.count;
    return counted;
}

once_result load_table() {
    constexpr std::uint64_t scopes = 8'000'000;
    const coroscope::trace::buffer bytes = trace_of(scopes);
    std::uint64_t counted = 0;
    const double floor = rate(scopes, [&] { keep(look_at(bytes)); });
    const double value = rate(scopes, [&] { counted = count_by_table(bytes, 1); });
    return {value, floor, counted == scopes ? "" : "not every scope was counted"};
}

double seconds_of_table(const coroscope::trace::buffer& bytes, unsigned jobs) {
    double least = 1e9;
    for (int round = 0; round < 5; ++round) {
        const auto start = std::chrono::steady_clock::now();
        keep(count_by_table(bytes, jobs));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        least = std::min(least, took.count());
    }
    return least;
}

/// How many times faster two threads are than one, for a trace of two threads.
once_result load_table_by_two() {
    if (coroscope::trace::usable_processors() < 2) return {0, {}, "there is one processor"};
    constexpr std::uint64_t scopes = 8'000'000;
    coroscope::profile session{{.all_threads = true, .policy = coroscope::overflow::wait}};
    const auto record = [] {
        for (std::uint64_t done = 0; done < scopes; done += scopes_per_request) request();
    };
    std::thread other(record);
    record();
    other.join();
    const coroscope::trace::buffer bytes = session.stop();
    return {seconds_of_table(bytes, 1) / seconds_of_table(bytes, 2), {}, ""};
}

/// The kilobytes of a line of /proc/self/status.
double status_kilobytes(std::string_view name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (std::string_view(line).starts_with(name))
            return std::stod(line.substr(name.size() + 1));
    return 0;
}

/// The greatest memory of the same beside the trace, in which it must not grow.
once_result load_table_memory() {
    constexpr std::uint64_t scopes = 16'000'000;
    const coroscope::trace::buffer bytes = trace_of(scopes);
    keep(count_by_table(bytes, 1));  // all pages of the trace are in memory from here on
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5" << std::flush;  // forgets the greatest memory
    const double before = status_kilobytes("VmRSS");
    const std::uint64_t counted = count_by_table(bytes, 2);
    const double most = status_kilobytes("VmHWM");
    return {std::max(0.0, most - before) / 1e3,
            {},
            counted == scopes ? "" : "not every scope was counted"};
}

/// Exports a trace of a million scopes and discards the output.
template <class Export>
once_result export_by(Export write_out) {
    constexpr std::uint64_t scopes = 1'000'000;
    const auto loaded = coroscope::analysis::load(trace_of(scopes));
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!loaded || nowhere < 0) return {0, {}, "there is no trace, or no /dev/null"};
    std::uint64_t written = 0;
    const double value = rate(scopes, [&] {
        const auto totals = write_out(*loaded, [&](std::string_view text) {
            return write(nowhere, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        });
        if (totals) written = totals->scopes;
    });
    close(nowhere);
    return {value, {}, written == scopes ? "" : "not every scope was written"};
}

/// Returns the peak memory of the same export, without the trace's own, as the allocator reports it
/// at each write.
template <class Export>
once_result memory_of(Export write_out) {
    constexpr std::uint64_t scopes = 1'000'000;
    const auto loaded = coroscope::analysis::load(trace_of(scopes));
    if (!loaded) return {0, {}, "there is no trace"};
    const auto in_use = [] {
        const struct mallinfo2 now = mallinfo2();
        return now.uordblks + now.hblkhd;
    };
    const std::size_t before = in_use();
    std::size_t most = before;
    const auto totals = write_out(*loaded, [&](std::string_view) {
        most = std::max(most, in_use());
        return true;
    });
    const bool whole = totals && totals->scopes == scopes;
    return {
        static_cast<double>(most - before) / 1e6, {}, whole ? "" : "not every scope was written"};
}

once_result export_chrome_memory() { return memory_of(coroscope::analysis::export_chrome); }

once_result export_perfetto_memory() { return memory_of(coroscope::analysis::export_perfetto); }

once_result export_chrome() { return export_by(coroscope::analysis::export_chrome); }

once_result export_perfetto() { return export_by(coroscope::analysis::export_perfetto); }

}  // namespace

std::vector<once_row> analysis_rows() {
    return {
        {"load.native", "M/s", load_native},
        {"load.table", "M/s", load_table},
        {"load.table.jobs", "×", load_table_by_two},
        {"memory.load_table", "MB", load_table_memory},
        {"export.chrome", "M/s", export_chrome},
        {"export.perfetto", "M/s", export_perfetto},
        {"memory.export_chrome", "MB", export_chrome_memory},
        {"memory.export_perfetto", "MB", export_perfetto_memory},
    };
}

}  // namespace bench
