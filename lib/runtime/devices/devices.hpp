// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sessions' half of the interface to the recorder of devices (detail/device_recorder.hpp).

#include <cstdint>

#include <coroscope/detail/device_notes.hpp>
#include <coroscope/profile.hpp>

#include "../writer/registry.hpp"

namespace coroscope::runtime::inline devices {

/// Begins to record the devices that the options name, into a session that is live. Returns an
/// error or a warning as a static text, empty on success. The caller must hold the lock of
/// sessions, as for the next two functions.
const char* start_devices(session& owner, const profile_options& options) noexcept;

/// Switches the recorder of devices off or on with the session's collection, if this session
/// records devices. To switch off, the caller must call it before the session stops recording. To
/// switch on, the caller must call it after the session records again and before other threads
/// notice.
void collect_devices(const session& owner, bool on) noexcept;

/// Reverses start_devices(). The session must still be live.
void stop_devices(const session& owner) noexcept;

/// Returns whether the recorder of devices must be informed of this thread's current task. Except
/// under ThreadSanitizer the load is not atomic, so that the compiler can fold it into the test of
/// the bit.
[[gnu::always_inline]] inline bool devices_follow() noexcept {
#if defined(__SANITIZE_THREAD__)
    return (detail::load_gate() & detail::gate_devices) != 0;
#else
    return (detail::this_thread.gate & detail::gate_devices) != 0;
#endif
}

/// Informs the recorder of devices of this thread's current task: follow_current_task() takes the
/// task of the thread's mark, follow_task() a task that is about to run. The thread's gate must
/// have or have had gate_devices, or the thread is not registered yet.
void follow_current_task() noexcept;
void follow_task(std::uint64_t task) noexcept;

/// Returns whether the session of this generation records devices.
bool records_devices(std::uint32_t generation) noexcept;

/// Writes a device_wait record; third and fourth are its words.
void write_device_wait(std::uint64_t ticks, trace::device_wait_kind kind, std::uint32_t stream,
                       std::uint64_t third, std::uint64_t fourth) noexcept;

/// Records that the suspension of `task` on this thread waits for `stream`. The suspension begins
/// at `ticks`; 0: now.
void record_stream_wait(std::uint64_t ticks, void* stream, std::uint64_t task,
                        bool per_thread) noexcept;

/// Does the same for an event. Returns the recorded wait, for record_latest_event().
detail::noted_event_wait record_event_wait(std::uint64_t ticks, const void* event,
                                           std::uint64_t task) noexcept;
/// Records the wait again, for the latest recording of the event, which the program has made since
/// then. Does nothing if the session of that suspension no longer records devices.
void record_latest_event(const detail::noted_event_wait& wait, std::uint64_t task) noexcept;

/// Asks the active recorder of devices for an event, and for a stream.
detail::device_event find_event(const void* event) noexcept;
detail::device_stream identify_stream(void* stream, bool per_thread) noexcept;

/// Calls detail::rebind() and, if devices are recorded here, follow_current_task(). `carried` must
/// belong to the task in the thread's mark.
void rebind_and_follow(std::uint64_t carried) noexcept;

}  // namespace coroscope::runtime::inline devices
