// SPDX-License-Identifier: Apache-2.0
#pragma once

// What GPUs do, in a session's trace: kernels, copies, sets, calls of CUDA's runtime and driver, synchronisation, memory,
// each with the task that asked for it.
//
//   coroscope::profile session{{.use_device = "cuda"}};        // or COROSCOPE_DEVICE=cuda beside COROSCOPE_TRACE
//   if (session.status().message …)                            // says why devices are not recorded, or what is missing
//
// The program links coroscope-cuda, or has it where the loader finds it. That opens CUPTI when a session first asks
// for it: the library that COROSCOPE_CUPTI names, else libcupti.so.13 or .12, else the toolkit's. docs/gpu.md has
// what is recorded and what it costs. A launch belongs to the task that is current on its thread, also after the
// task has hopped there; one in an await_suspend belongs to the task that suspends. One session at a time records
// devices, and a child process after fork() does not, if a session of its parent has asked for them.

#include <cstdint>

#include <coroscope/detail/device_notes.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {
namespace cuda {

/// Why CUPTI cannot be opened, in one line; empty where it can: whether it records is known when a session asks for it.
/// In the library coroscope-cuda. Opens CUPTI if nothing has. Thread-safe; the text lives as long as the program.
COROSCOPE_API const char* why_unavailable() noexcept;
inline bool available() noexcept { return *why_unavailable() == '\0'; }

/// What CUPTI told of the latest session that recorded devices: kernels, copies and sets, by CUPTI's own times, summed
/// as they were read, before anything could be lost on the way into the trace.
struct recorded_work {
    std::uint64_t activities = 0;
    std::uint64_t device_time_ns = 0;
};
/// In the library coroscope-cuda. Thread-safe; whole when the session has stopped; nothing in a forked child.
COROSCOPE_API recorded_work latest_recorded_work() noexcept;

}  // namespace cuda

}  // namespace coroscope
