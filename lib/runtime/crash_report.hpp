// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a fatal signal leaves behind while a session asks for it (profile_options::crash_report): the async
// stack of the thread that it came to, on a descriptor and in the headers of such sessions' traces.
//
//   signal ──► report, once ──► the action that stood there before is put back, the signal sent again
//
// So the process ends as it would have without us, in its own handler or by the default, with the same signal,
// code and registers. A trace file that somebody cut is no fatal signal: its mapping is
// replaced and the thread goes on.
//
// Threads: watch_crashes() and its end under sessions_mutex(); the others belong to their thread. Nothing in a
// handler allocates, locks or waits without end.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::runtime {

/// From here on the session in that slot of the table is told of crashes, in its trace's header; what is mapped
/// over its file are `file_bytes` from there, 0 where it has none. The first session installs the handlers;
/// the descriptor is the newest one's.
void watch_crashes(std::size_t slot, trace::file_header& header, std::uint64_t file_bytes,
                   int descriptor) noexcept;

/// No more. The last one puts the handlers' predecessors back, but leaves alone what was installed over ours.
void unwatch_crashes(std::size_t slot) noexcept;

/// In a forked child: the same for all.
void forget_crashes() noexcept;

/// Gives this thread a stack for its handlers, so that an overflow of its own can be told of. Not where
/// it has one.
void give_signal_stack(detail::thread_record& thread) noexcept;

/// At the thread's end.
void take_signal_stack(detail::thread_record& thread) noexcept;

}  // namespace coroscope::runtime
