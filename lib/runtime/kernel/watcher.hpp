// SPDX-License-Identifier: Apache-2.0
#pragma once

// The thread that writes the kernel's facts about the process's threads into a session's trace:
// when they were on a processor, and the causes of their waits. Its name is "coroscope-kern". The
// header of the trace names the source of the facts (trace::thread_state_source).
//
// The thread has no descriptor of the program, receives no signal, holds no lock and runs none of
// the program's code but its malloc.
//
// Threads: the caller must hold sessions_mutex().

#include "../store/chunk_store.hpp"

namespace coroscope::runtime::inline kernel {

/// A seccomp filter may end the process for a system call that it does not list, and cannot be
/// asked. Under a filter nothing is watched, unless it is trusted.
enum class filter_trust : int { none, samples, switches };  ///< switches: perf_event_open(), too
void trust_filter(filter_trust trust) noexcept;

/// Starts the thread for the session that records all threads, and waits until it watches, for four
/// milliseconds at most. If it cannot be started, the header of the trace has the reason. The store
/// must stay open until stop_watching().
void start_watching(chunk_store& store) noexcept;

/// Ends the thread, if it writes to that store: the last facts are written then.
void stop_watching(const chunk_store& store) noexcept;

}  // namespace coroscope::runtime::inline kernel
