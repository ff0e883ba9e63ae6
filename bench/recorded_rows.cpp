// SPDX-License-Identifier: Apache-2.0

// The results of recording: bytes per scope, and scopes per second without a pause.

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstdio>
#include <ctime>
#include <exception>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <coroscope/coroscope.hpp>
#include <coroscope/trace/reader.hpp>

#include "harness.hpp"
#include "once.hpp"

namespace bench {
namespace {

constexpr std::uint64_t recorded_scopes = 1'000'000;

struct detached {
    struct promise_type {
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

void record_scopes(std::uint64_t count) {
    for (std::uint64_t each = 0; each < count; ++each) {
        COROSCOPE("bench");
        clobber();
    }
}

detached record_in_frame(std::uint64_t count) {
    for (std::uint64_t each = 0; each < count; ++each) {
        COROSCOPE("bench");
        clobber();
    }
    co_return;
}

void record_from_frame(std::uint64_t count) { record_in_frame(count); }

// Counts whole chunks, including their headers and unused ends.
once_result bytes_per_scope(void (*record)(std::uint64_t)) {
    coroscope::profile session{{.all_threads = true, .policy = coroscope::overflow::wait}};
    record(recorded_scopes);
    const coroscope::trace::buffer bytes = session.stop();
    const auto reader = coroscope::trace::reader::open(bytes);
    if (!reader || session.status().lost_records != 0) return {0, {}, "the trace is not whole"};
    std::uint64_t used = 0;
    for (const auto& chunk : reader->chunks()) {
        if (chunk.header.kind == coroscope::trace::chunk_kind::records)
            used += reader->header().chunk_bytes;
    }
    return {static_cast<double>(used) / static_cast<double>(recorded_scopes), {}, ""};
}

once_result bytes_on_stack() { return bytes_per_scope(record_scopes); }
once_result bytes_in_frame() { return bytes_per_scope(record_from_frame); }

// Uses this thread's processor time, so that the load of other programs does not count.
template <class Work>
double millions_per_second(std::uint64_t count, Work&& work) {
    const auto seconds = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    };
    const double start = seconds();
    work(count);
    return static_cast<double>(count) / (seconds() - start) / 1e6;
}

void read_twice(std::uint64_t count) {
    for (std::uint64_t each = 0; each < count; ++each) {
        keep(counter_ticks());
        keep(counter_ticks());
    }
}

struct kept_rate {
    double millions_per_second = 0;  ///< dropped scopes are not throughput
    double dropped = 0;              ///< their share
};

// `threads` threads do nothing else, each for a quarter of a gigabyte. Each thread's rate is that
// of its own processor time, so a thread that waits for a processor does not appear slower.
kept_rate record_on(unsigned threads) {
    constexpr std::uint64_t count = 16 * recorded_scopes;
    std::vector<double> rates(threads);
    coroscope::profile session{{.all_threads = true}};
    {
        std::vector<std::jthread> running;
        for (double& rate : rates)
            running.emplace_back([&rate] { rate = millions_per_second(count, record_scopes); });
    }
    session.stop();
    const double dropped =
        static_cast<double>(session.status().lost_records) / static_cast<double>(count * threads);
    return {std::accumulate(rates.begin(), rates.end(), 0.0) * (1 - dropped), dropped};
}

std::string dropped_note(double share) {
    char note[64];
    std::snprintf(note, sizeof note, "dropped %.2f %%", 100 * share);
    return note;
}

once_result sustained() {
    const double floor = millions_per_second(32 * recorded_scopes, read_twice);
    const kept_rate one = record_on(1);
    return {one.millions_per_second, floor, dropped_note(one.dropped)};
}

// Two threads beside one; the three pairs take turns, and the one in the middle counts.
once_result scaling() {
    std::array<std::pair<kept_rate, kept_rate>, 3> pairs;
    for (auto& each : pairs) each = {record_on(1), record_on(2)};
    const auto ratio = [](const auto& pair) {
        return pair.second.millions_per_second / pair.first.millions_per_second;
    };
    std::sort(pairs.begin(), pairs.end(),
              [&](const auto& left, const auto& right) { return ratio(left) < ratio(right); });
    const auto& [one, two] = pairs[1];
    return {two.millions_per_second, one.millions_per_second, dropped_note(two.dropped)};
}

}  // namespace

std::vector<once_row> recorded_rows() {
    return {
        {"scope.sustained", "M/s", sustained},
        {"scope.scaling", "M/s", scaling},
        {"memory.bytes_per_scope", "B", bytes_on_stack},
        {"memory.bytes_per_scope.in_frame", "B", bytes_in_frame},
    };
}

}  // namespace bench
