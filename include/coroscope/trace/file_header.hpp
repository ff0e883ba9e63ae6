// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first bytes of a trace. This header is a part of format.hpp.

#include <cstddef>
#include <cstdint>

namespace coroscope::trace {

inline constexpr std::size_t file_header_bytes = 4096;

/// The behaviour of the session when no free chunk is left.
enum class overflow_policy : std::uint32_t { drop_newest = 0, overwrite_oldest = 1, wait = 2 };

/// The source of ticks.
enum class clock_source : std::uint32_t { tsc = 1, cntvct = 2, monotonic_ns = 3 };

/// One moment read on three clocks. ticks == 0 means "not taken".
struct clock_point {
    std::uint64_t ticks;
    std::int64_t monotonic_ns;
    std::int64_t realtime_ns;
};

// clang-format off: tables with a remark beside each row
/// The first bytes of a trace. The writer updates a field marked (live) while the session runs,
/// each time by one aligned store. Such a field is right even if the process was killed.
struct file_header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;  ///< file_header_bytes; offset of the first chunk
    std::uint32_t chunk_bytes;   ///< size of every chunk, a multiple of 4096
    overflow_policy policy;
    clock_source clock;
    std::uint32_t process_id;
    std::uint64_t session_id;        ///< random; distinguishes two traces
    std::uint64_t chunk_count;       ///< (live) chunks that the file has room for
    clock_point start;               ///< when the session started
    clock_point last;                ///< (live) the newest calibration point
    std::uint64_t finished;          ///< (live) 1 once stop() sealed the trace
    std::uint64_t lost_records;      ///< (live) dropped: no thread record could be made
    std::uint64_t tasks_without_slot;///< (live) overwrite_oldest: tasks without room in the table
    std::uint64_t late_records;      ///< records in flight when the session stopped
    std::uint64_t write_error;       ///< (live) errno that stopped the growth of the trace, 0: none
    std::uint32_t scope_cost_ticks;  ///< the recorder's own cost per scope, times 256
    std::uint32_t await_cost_ticks;  ///< the same per suspension (suspend + resume), times 256
    std::uint64_t all_threads;       ///< 1: the session records every thread of the process
    std::uint64_t limit_bytes;       ///< the session's memory bound
    char process_name[64];           ///< NUL-terminated
    std::uint64_t asio;              ///< (live) asio_tracking
    char trace_id[64];               ///< NUL-terminated; chosen by the program, else random
    std::uint64_t node;              ///< node id of a distributed run, plus 1; 0: none
    std::uint64_t asked_for;         ///< session_features
    std::uint64_t devices;           ///< (live) device_recording
    std::uint64_t lost_device_records;  ///< (live) dropped or not written by the device recorder
    char device_message[160];  ///< NUL-terminated: why devices are not recorded, or not completely
    std::uint64_t crash_signal;      ///< (live) the reported fatal signal, 0 if none; written last
    char crash_report[2048];         ///< NUL-terminated: signal, thread and async stack
    std::uint32_t asio_version;      ///< tracked: major * 100000 + minor * 100 + patch; 0: none
    std::uint32_t boost_asio_version;  ///< the same for Asio in Boost
    std::uint64_t chunks_in_use;  ///< chunks opened and not overwritten, once finished; 0: unknown
    std::uint64_t container_bytes;   ///< container's limit, if limit_bytes follows from it; else 0
    std::uint64_t unnamed_scopes;    ///< (live) scopes that began without a place of an open one
    std::uint64_t thread_states;     ///< (live) thread_state_source
    char thread_states_message[96];  ///< NUL-terminated: why the source is not the best one
    std::uint32_t processors;  ///< that the process may use at the session's start; 0: unknown
    /// Processor time that its container may use: 150 is one and a half processors; 0: no limit, or
    /// unknown
    std::uint32_t quota_percent;
    std::uint32_t request_interval;  ///< (live) one of so many requests is recorded in full; 0: all
    std::uint32_t least_interval;    ///< its value at the session's start
    std::uint32_t budget_ppm;  ///< the cost limit: of the process's processor time; 0: none
    std::uint32_t cost_ppm;    ///< (live) estimated cost in the last period; 0: unknown
    std::uint32_t interval_changes;  ///< (live) changes of request_interval
    std::uint32_t reserved;
    /// (live) NUL-terminated: the list of the last set_categories(); empty: none was set
    char categories[160];
    /// The trace is a part of another one: nanoseconds since its start, and one more than the end
    /// of the part. Both 0: the trace is whole
    std::int64_t part_from_ns;
    std::int64_t part_end_ns;
    /// (live) session_features that were asked for and have no data, in this file or in an earlier
    /// one of the session. Only those that need help of the program; 0 in older traces
    std::uint64_t without_data;
};
static_assert(sizeof(file_header) <= file_header_bytes);
// clang-format on

/// The state of handler tracking in the program's Asio.
enum class asio_tracking : std::uint64_t {
    in_order = 0,      ///< tracked, or no Asio was found
    missing = 1,       ///< no translation unit was compiled with handler tracking
    mixed = 2,         ///< only some were: an ODR violation
    untried = 3,       ///< its version was not tried with the program's Coroscope
    unrecognised = 4,  ///< a co_spawn ended in a way unknown to the program's Coroscope
};

/// The state of device recording in the session.
enum class device_recording : std::uint64_t {
    not_asked = 0,
    recorded = 1,      ///< device_message names missing parts, if any
    not_recorded = 2,  ///< device_message has the reason
};

/// The source of the facts about threads on processors (kernel_format.hpp).
enum class thread_state_source : std::uint64_t {
    none = 0,      ///< not asked for, or an older trace
    switches = 1,  ///< each context switch (perf_event_open)
    samples = 2,   ///< samples and sums of each thread (schedstat); the message has the reason
    refused = 3,   ///< neither; the message has the reason
};

/// Features beside scopes and tasks that the session was asked to record.
enum session_features : std::uint64_t {
    feature_shapes = 1U << 0,
    feature_memory = 1U << 1,
    feature_stacks = 1U << 2,
    feature_flops = 1U << 3,
    feature_modules = 1U << 4,
    feature_open_scopes = 1U << 5,  ///< the trace has chunks of kind open
    feature_blocking = 1U << 6,     ///< calls that block: blocking_format.hpp
    feature_locks = 1U << 7,        ///< waits for locks: lock_format.hpp
    feature_arguments = 1U << 8,    ///< 0 in older traces
};

}  // namespace coroscope::trace
