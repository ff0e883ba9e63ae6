// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sessions' half of the seam to what records devices (detail/device_recorder.hpp).

#include <cstdint>

#include <coroscope/detail/device_notes.hpp>
#include <coroscope/profile.hpp>

#include "registry.hpp"

namespace coroscope::runtime {

/// Begins to record the devices that the options name, into a session that is live. Returns why that is not so, or
/// what is missing: a text that stays, empty where all is well. Under the lock of sessions, as the next two.
const char* start_devices(session& owner, const profile_options& options) noexcept;

/// Collection is switched off, or on again: tells the devices' recorder, if this session records them. Off: before the
/// session does nothing any more; on: when it does again, and before threads see that.
void collect_devices(const session& owner, bool on) noexcept;

/// Ends what start_devices() began, while the session is still live.
void stop_devices(const session& owner) noexcept;

/// In a forked child: no session records devices any more.
void forget_devices() noexcept;

/// Does the recorder of devices follow this thread's tasks? The load can be folded into the test where no
/// sanitizer asks for an atomic one.
[[gnu::always_inline]] inline bool devices_follow() noexcept {
#if defined(__SANITIZE_THREAD__)
    return (detail::load_gate() & detail::gate_devices) != 0;
#else
    return (detail::this_thread.gate & detail::gate_devices) != 0;
#endif
}

/// Tells the recorder which task is current on this thread: the one of its mark, or a task that is about to be.
/// For threads whose gate has gate_devices, or had it, or that are not registered yet.
void follow_current_task() noexcept;
void follow_task(std::uint64_t task) noexcept;

/// Does the session of this generation record devices?
bool records_devices(std::uint32_t generation) noexcept;

/// Writes a device_wait record; third and fourth are its words.
void write_device_wait(std::uint64_t ticks, trace::device_wait_kind kind, std::uint32_t stream,
                       std::uint64_t third, std::uint64_t fourth) noexcept;

/// The suspension of `task` that begins on this thread, now (0) or at `ticks`, waits for a stream of the recorder's.
void record_stream_wait(std::uint64_t ticks, void* stream, std::uint64_t task,
                        bool per_thread) noexcept;

/// The same for an event.
detail::noted_event_wait record_event_wait(std::uint64_t ticks, const void* event,
                                           std::uint64_t task) noexcept;
/// And for where it was recorded since, if the session of that suspension still records devices.
void record_latest_event(const detail::noted_event_wait& wait, std::uint64_t task) noexcept;

/// What the recorder of devices, if one is active, knows of an event and of a stream.
detail::device_event find_event(const void* event) noexcept;
detail::device_stream identify_stream(void* stream, bool per_thread) noexcept;

/// detail::rebind() to what the task of the thread's mark carries.
void rebind_and_follow(std::uint64_t carried) noexcept;

}  // namespace coroscope::runtime
