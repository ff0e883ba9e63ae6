// SPDX-License-Identifier: Apache-2.0
#pragma once

// The measurement of a row. Subject and floor alternate burst by burst in one process; a burst is
// timed by the tick clock. Before, between and after the two bursts, a probe shows whether the
// processor also did other work (pairs.py selects pairs by it). After each pair the recorder's
// helper gets a pause outside the timed part. Dropped records are reported with the figure.

#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <coroscope/detail/ticks.hpp>

namespace bench {

using coroscope::detail::counter_ticks;

/// Performs that many operations on the calling thread and returns the ticks of the timed part.
using burst = std::uint64_t (*)(std::uint64_t operations);

/// The session of a row: none; one with room in its trace; one that also names open scopes; or one
/// with a full trace.
enum class session_trace { none, open, naming, full };

struct row {
    const char* name;
    burst subject;
    burst floor;
    burst plain;  ///< the subject without the profiler: the base of instruction counts
    session_trace session = session_trace::none;
    unsigned threads = 1;
    std::uint64_t operations = 10'000;  ///< per burst
    void (*settle)() =
        nullptr;  ///< called between bursts: returns when the subject's data is taken away
};

/// Times per operation of a burst of the subject and of the burst of the floor next to it.
struct burst_pair {
    double value;
    double floor;
    /// Additions per tick around the two bursts: the lowest rate of the row's threads.
    double rate;
};

struct figure {
    std::vector<burst_pair> pairs;  ///< in nanoseconds
    std::uint64_t lost_records = 0;
};

/// Runs the row on `row.threads` threads at once, each on a processor of its own if there are two.
figure measure(const row& what);

/// For callgrind: that many operations of the subject or of its plain counterpart in counted().
void count_instructions(const row& what, bool plain, std::uint64_t operations);

/// The rows of the program. All programs have the same main().
std::vector<row> rows();

/// The rows of each source of bench_hot.
std::vector<row> scope_rows();
std::vector<row> site_rows();
std::vector<row> await_rows();
std::vector<row> task_rows();

/// Makes the compiler assume that memory is read and written here.
[[gnu::always_inline]] inline void clobber() { __asm__ volatile("" ::: "memory"); }

/// Makes the compiler assume that the value is used.
template <class Value>
[[gnu::always_inline]] inline void keep(Value value) {
    __asm__ volatile("" : : "r"(value));
}

/// Returns the ticks that `work` takes.
template <class Work>
[[gnu::always_inline]] inline std::uint64_t timed(Work&& work) {
    const std::uint64_t start = counter_ticks();
    work();
    return counter_ticks() - start;
}

/// Returns the ticks of a loop that calls `work` that many times. The compiler cannot merge two
/// calls.
template <class Work>
[[gnu::always_inline]] inline std::uint64_t repeat(std::uint64_t operations, Work&& work) {
    return timed([&] {
        for (std::uint64_t each = 0; each < operations; ++each) {
            work();
            clobber();
        }
    });
}

/// Returns additions per tick in registers alone, over a few microseconds. The rate is lower than
/// at other times only if the core also does other work.
inline double additions_per_tick() {
    constexpr std::uint64_t rounds = 5'000;
    std::uint64_t sums[4] = {};
    const std::uint64_t ticks = repeat(rounds, [&] {
        __asm__ volatile("add $1, %0; add $1, %1; add $1, %2; add $1, %3"
                         : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                         :
                         : "cc");
    });
    return static_cast<double>(rounds * std::size(sums)) / static_cast<double>(ticks);
}

}  // namespace bench
