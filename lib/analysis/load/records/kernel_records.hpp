// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the chunks of kind kernel: the records about threads on processors, by the kernel's thread
// id. Times are nanoseconds since the session's start, not yet clipped to the session.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "clock_map.hpp"
#include <coroscope/analysis/index_range.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/kernel_format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// Returns a moment of CLOCK_MONOTONIC as time since the session's start.
[[nodiscard]] std::int64_t session_ns(const coroscope::trace::reader& input,
                                      std::int64_t monotonic_ns);

/// A thread took a processor, or left one.
struct processor_switch {
    std::int64_t time_ns = 0;
    std::uint32_t flags = 0;  ///< trace::processor_flags
};

/// The kernel's sums of a thread at a moment.
struct thread_sums {
    std::int64_t time_ns = 0;
    std::uint64_t on_cpu_ns = 0;
    std::uint64_t delay_ns = 0;
};

/// Whether the sums are those of a thread that has never run.
inline bool is_start(const thread_sums& sums) { return sums.on_cpu_ns == 0 && sums.delay_ns == 0; }

/// A time in which a thread waited in the kernel, as a look at it proves.
struct seen_wait {
    std::int64_t since_ns = 0;
    std::int64_t until_ns = 0;  ///< time of the look
};

/// The records of one kernel thread id. Several threads may have had it, one after the other.
struct kernel_thread {
    std::vector<processor_switch> switches;  ///< by time
    std::vector<thread_sums> sums;           ///< by time
    std::vector<seen_wait> waits;            ///< by their starts
};

/// A time in which switches may be missing.
struct lost_stretch {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
};

struct blocked_record {
    std::int64_t time_ns = 0;
    optional_ns since_ns;
    coroscope::trace::blocked_body body{};
};

struct kernel_records {
    std::unordered_map<std::uint32_t, kernel_thread> threads;  ///< by the kernel's id
    std::vector<lost_stretch> lost;                            ///< by time, disjoint
    std::vector<blocked_record> blocked;                       ///< as in the trace
    std::uint64_t switches = 0;
    bool has_each_switch = false;  ///< the source is each context switch
    std::uint64_t lost_switches = 0;
    std::uint64_t malformed = 0;  ///< facts that are too short
};

/// Reads the records of `input`. `duration_ns` is the length of the session, `dropped_records`
/// whether it dropped records of any kind because no chunk was free.
[[nodiscard]] kernel_records read_kernel_records(const coroscope::trace::reader& input,
                                                 clock_map& clock, std::int64_t duration_ns,
                                                 bool dropped_records);

}  // namespace coroscope::analysis::inline records
