// SPDX-License-Identifier: Apache-2.0
#pragma once

// What awaits of devices, and ranges that end with them, tell the session that records devices: which stream or event
// they wait for. None of it does anything where no session does. Thread-safe; not in a signal handler.

#include <cstdint>

#include <coroscope/detail/device_recorder.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

/// The suspension of `task` that begins now on this thread, or that one of Asio's has begun here, waits for all that
/// the stream (a CUstream or cudaStream_t; null: the default one) was asked to do until then. `per_thread`: the
/// program's default stream is the thread's own.
COROSCOPE_API void note_stream_wait(void* stream, std::uint64_t task,
                                    bool per_thread = false) noexcept;

/// An event that a suspension waits for, and where it was recorded when somebody looked last. ticks 0: nothing
/// records it.
struct noted_event_wait {
    std::uint64_t ticks = 0;
    device_event noted;
    device_event latest;
    std::uint32_t session = 0;  ///< generation of the one that records it
};

/// That suspension waits for an event (a CUevent or cudaEvent_t): for what its stream was asked to do before it was
/// recorded.
COROSCOPE_API noted_event_wait note_event_wait(const void* event, std::uint64_t task) noexcept;
/// To be called before whoever waits asks the event: the answer is of its latest record.
COROSCOPE_API void look_at_event(noted_event_wait& wait, const void* event) noexcept;
/// The event is done. Where it was recorded again meanwhile, the suspension has waited for that, too. In the context of
/// the task that waits.
COROSCOPE_API void note_event_told(const noted_event_wait& wait, std::uint64_t task) noexcept;

class range_state;
/// The range ends where the stream comes to here: what it launched there until now is its part of the device.
COROSCOPE_API void note_range_on_stream(const range_state& range, void* stream,
                                        bool per_thread) noexcept;

}  // namespace coroscope::detail
