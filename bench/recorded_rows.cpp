// SPDX-License-Identifier: Apache-2.0

// What recording leaves: bytes per scope, and scopes per second without a pause.

#include <coroutine>
#include <cstdio>
#include <ctime>
#include <exception>

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

// Of the chunks as they are, headers and unused ends included.
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

// Of this thread's processor time, so that other programs' load does not count.
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

// One thread that does nothing else, for half a gigabyte. What was dropped is no throughput.
once_result sustained() {
    constexpr std::uint64_t count = 32 * recorded_scopes;
    const double floor = millions_per_second(count, read_twice);
    coroscope::profile session{{.all_threads = true}};
    const double rate = millions_per_second(count, record_scopes);
    session.stop();
    const auto lost = static_cast<double>(session.status().lost_records);
    const double kept = 1 - lost / static_cast<double>(count);
    char note[64];
    std::snprintf(note, sizeof note, "dropped %.2f %%", 100 * (1 - kept));
    return {rate * kept, floor, note};
}

}  // namespace

std::vector<once_row> recorded_rows() {
    return {
        {"scope.sustained", "M/s", sustained},
        {"memory.bytes_per_scope", "B", bytes_on_stack},
        {"memory.bytes_per_scope.in_frame", "B", bytes_in_frame},
    };
}

}  // namespace bench
