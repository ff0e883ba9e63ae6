// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a row is measured. Subject and floor alternate burst by burst in one process; a burst is timed
// by the tick clock. Before, between and behind the two stands a probe of the processor, which tells whether
// somebody else had a share of it (pairs.py chooses by it). After each pair the recorder's helper gets
// a pause outside the timed part, and records that were dropped are reported with the figure.

#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <coroscope/detail/ticks.hpp>

namespace bench {

using coroscope::detail::counter_ticks;

/// Performs that many operations on the calling thread; returns the ticks of the timed part.
using burst = std::uint64_t (*)(std::uint64_t operations);

/// The session that a row runs in, and whether its trace takes what is recorded.
enum class session_trace { none, open, full };

struct row {
    const char* name;
    burst subject;
    burst floor;
    burst plain;  ///< the subject without the profiler: what instruction counts are taken against
    session_trace session = session_trace::none;
    unsigned threads = 1;
    std::uint64_t operations = 10'000;  ///< per burst
    void (*settle)() =
        nullptr;  ///< called between bursts: returns when the subject's data is taken away
};

/// A burst of the subject and one of the floor, right beside each other: times per operation.
struct burst_pair {
    double value;
    double floor;
    double
        rate;  ///< additions per tick: the least that any of the row's threads reached around the two
};

struct figure {
    std::vector<burst_pair> pairs;  ///< in nanoseconds
    std::uint64_t lost_records = 0;
};

/// Runs the row on `row.threads` threads at once, each on a processor of its own where there are two.
figure measure(const row& what);

/// For callgrind: that many operations of the subject or of its plain counterpart in counted().
void count_instructions(const row& what, bool plain, std::uint64_t operations);

/// The rows of the program; its main() is the same in all.
std::vector<row> rows();

/// The rows of each source of bench_hot.
std::vector<row> scope_rows();
std::vector<row> await_rows();
std::vector<row> task_rows();

/// The compiler must assume that memory was read and written here.
[[gnu::always_inline]] inline void clobber() { __asm__ volatile("" ::: "memory"); }

/// The compiler must assume that the value is used.
template <class Value>
[[gnu::always_inline]] inline void keep(Value value) {
    __asm__ volatile("" : : "r"(value));
}

/// The ticks that `work` takes.
template <class Work>
[[gnu::always_inline]] inline std::uint64_t timed(Work&& work) {
    const std::uint64_t start = counter_ticks();
    work();
    return counter_ticks() - start;
}

/// The ticks of a loop of that many times `work`, none of which the compiler merges with the next.
template <class Work>
[[gnu::always_inline]] inline std::uint64_t repeat(std::uint64_t operations, Work&& work) {
    return timed([&] {
        for (std::uint64_t each = 0; each < operations; ++each) {
            work();
            clobber();
        }
    });
}

/// Additions per tick in registers alone, over a few microseconds. Fewer than at other times only where the core
/// does somebody else's work, too.
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
