// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notes for the session that records devices: the stream or event that an await, or a range that
// ends with it, waits for. If no session records devices, these functions do nothing.
//
// Thread-safe, but must not be called in a signal handler.

#include <cstdint>

#include <coroscope/detail/device_recorder.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

/// Notes that a suspension of `task` waits for all work that `stream` was asked to do until now.
/// The suspension must begin now on this thread, or be one of Asio's that has begun here. `stream`
/// is a CUstream or cudaStream_t; null: the default stream. `per_thread`: the default stream is the
/// thread's own.
COROSCOPE_API void note_stream_wait(void* stream, std::uint64_t task,
                                    bool per_thread = false) noexcept;

/// An awaited event, with the place of its recording when it was noted and when it was last looked
/// at. `ticks` is 0 if no session records the wait.
struct noted_event_wait {
    std::uint64_t ticks = 0;
    device_event noted;
    device_event latest;
    std::uint32_t session = 0;  ///< generation of the session that records it
};

/// As note_stream_wait(), for an event (a CUevent or cudaEvent_t): the suspension waits for the
/// stream's work before the recording of the event.
COROSCOPE_API noted_event_wait note_event_wait(const void* event, std::uint64_t task) noexcept;
/// Must be called before the waiter queries the event, because the answer is about its latest
/// recording.
COROSCOPE_API void look_at_event(noted_event_wait& wait, const void* event) noexcept;
/// The event is complete. If it was recorded again in between, the suspension also waited for that
/// work. Must be called in the context of the waiting task.
COROSCOPE_API void note_event_told(const noted_event_wait& wait, std::uint64_t task) noexcept;

class range_state;
/// Notes that the range ends when the stream reaches this point. The range's requests to the stream
/// until now are its device work.
COROSCOPE_API void note_range_on_stream(const range_state& range, void* stream,
                                        bool per_thread) noexcept;

}  // namespace coroscope::detail
