// SPDX-License-Identifier: Apache-2.0
#pragma once

// Work that a session leaves out: all work below a request that is not recorded in full. The
// contexts of this work carry a bit beside the session (left_out_request). The bit closes the gate
// of the thread that runs the work. It follows the work as the session does: over suspensions,
// threads and jobs, and into the tasks that the work creates.
//
// The task in which the request began is in the trace. There it is suspended, at a site of kind
// request, for as long as it is left out.
//
// Threads: each function acts for the calling thread.

#include <cstdint>

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

/// Makes `session`, a generation with the bits of a request, the session of the thread's context.
void carry_session(std::uint32_t session) noexcept;

/// Leaves out the work that runs here from now on, in the session of that generation, which must
/// record here. Unless the site is 0, suspends the running task at that site in the trace.
void leave_record(std::uint32_t generation, std::uint32_t site) noexcept;

/// Ends the effect of leave_record(). Must be called in the same task. `suspended`: leave_record()
/// had a site.
void return_to_record(bool suspended) noexcept;

/// Must be called before a task ends, on the thread that runs it. If the task is left out and the
/// session knows it, calls return_to_record(), so that the trace has its end.
void return_at_end(const task_state& task) noexcept;

/// Returns whether the thread's context is left out, and its session knows the running task from
/// before.
bool is_known_before() noexcept;

/// Returns the session in which the end of a destroyed task must be recorded. `carried` is that of
/// the task's context.
std::uint32_t session_of_end(const task_state& task, std::uint64_t carried) noexcept;

}  // namespace coroscope::detail
