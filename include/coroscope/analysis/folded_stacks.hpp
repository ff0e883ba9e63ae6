// SPDX-License-Identifier: Apache-2.0
#pragma once

// Export of a native trace as folded stacks, the text format of flame graphs. Each line is a stack,
// a space and nanoseconds. The frames of a stack go from the outermost to the innermost, separated
// by ";".
//
// A stack leads through tasks: the root task, its open scopes, its await, the awaited task, its
// open scopes, and so on. Each nanosecond of a task counts in one stack. Of an await of
// a known task only the time after that task's end counts, because the awaited task's own stacks
// have the time before. Scopes outside tasks form the stacks of their threads, which begin with the
// thread's name. If the stack of a scope was recorded, the functions that were called between the
// enclosing frame and the scope are frames, too.

#include <cstdint>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The time that folded stacks count.
enum class folded_time : std::uint8_t {
    wall,       ///< all time of tasks, and of scopes outside tasks
    running,    ///< on a thread
    on_cpu,     ///< on a thread that was on a processor
    off_cpu,    ///< all other time whose state is known
    blocked,    ///< on a thread that waited in the kernel
    preempted,  ///< on a thread that could run, without a processor
    queued,     ///< ready, without a thread
    suspended,  ///< not ready; without waiting time, whose kind is unknown
    path        ///< the critical path of the slowest request
};

/// A stack has at most this number of frames. One more frame on top of them, "[deeper frames]",
/// stands for all deeper frames, and has their time.
inline constexpr std::uint32_t most_folded_frames = 512;

/// Returns the names of the values, separated by ", ": "wall, running, on-cpu, …".
[[nodiscard]] COROSCOPE_API std::string_view folded_times() noexcept;

/// Sets `time` to the value of that name. Returns false if there is none.
[[nodiscard]] COROSCOPE_API bool find_folded_time(std::string_view name,
                                                  folded_time& time) noexcept;

/// Writes the stacks with more than zero nanoseconds, and returns the number of lines. If `time`
/// names several kinds of time, the innermost frame is the kind in brackets, such as "[queued]".
/// Needs memory for each stack. Fails if the sink fails.
[[nodiscard]] COROSCOPE_API written export_folded_stacks(const trace& from, folded_time time,
                                                         const byte_sink& sink);

}  // namespace coroscope::analysis
