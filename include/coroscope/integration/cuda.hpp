// SPDX-License-Identifier: Apache-2.0
#pragma once

// The activities of GPUs in a session's trace: kernels, copies, sets, calls of CUDA's runtime and
// driver, synchronisation and memory, each with the task that requested it.
//
//   coroscope::profile session{{.use_device = "cuda"}};  // or COROSCOPE_DEVICE=cuda
//   if (session.status().message …)                      // why devices are not recorded
//
// The program must link coroscope-cuda, or the loader must find that library. coroscope-cuda opens
// CUPTI when a session first needs CUPTI: the library that COROSCOPE_CUPTI names, else
// libcupti.so.13 or .12, else the toolkit's library. docs/how-to/gpu.md lists the recorded data and
// their cost.
//
// A launch belongs to the current task of the launching thread, even if that task was resumed on
// this thread after it had run on another one. A launch in an await_suspend belongs to the
// suspending task. Only one session at a time records devices. A child process after fork() does
// not record them if a session of its parent has asked for them.

#include <cstdint>

#include <coroscope/detail/device_notes.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {
namespace cuda {

/// Returns one line with the reason why CUPTI cannot be opened, or an empty text if it can. Opens
/// CUPTI unless it is open already. A session may still fail to record devices: CUPTI reports this
/// only when the session starts. The text lives as long as the program. Thread-safe. In the library
/// coroscope-cuda.
COROSCOPE_API const char* why_unavailable() noexcept;
inline bool available() noexcept { return *cuda::why_unavailable() == '\0'; }

/// The totals of CUPTI's activities in the latest session that recorded devices: kernels, copies
/// and sets, by CUPTI's own times. Activities are added when they are read from CUPTI, so an
/// activity that is lost before it reaches the trace is included.
struct recorded_work {
    std::uint64_t activities = 0;
    std::uint64_t device_time_ns = 0;
};
/// Returns totals that are complete when the session has stopped, and zero in a forked child.
/// Thread-safe. In the library coroscope-cuda.
COROSCOPE_API recorded_work latest_recorded_work() noexcept;

}  // namespace cuda

}  // namespace coroscope
