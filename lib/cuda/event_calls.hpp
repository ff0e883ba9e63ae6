// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which calls of CUDA say where events are recorded and who waits for them, and what they say: CUPTI's callbacks in
// terms of events and streams.

#include <cstdint>
#include <span>

#include <cupti.h>

namespace coroscope::cuda {

/// A function that CUPTI is asked to tell of.
struct followed_call {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    bool needed;  ///< without it, what is known of events would be wrong
};
std::span<const followed_call> followed_calls() noexcept;

enum class event_act : std::uint8_t {
    none,
    record,   ///< `event` comes after what `stream` was asked for
    wait,     ///< `stream` waits for `event`
    destroy,  ///< `event` goes, and its handle may come back as another's
    elsewhere,  ///< from here on `event` may be recorded by a graph, or another process, whenever that likes
};

struct event_call {
    event_act act = event_act::none;
    const void* event = nullptr;
    CUstream stream = nullptr;
    bool per_thread = false;  ///< no stream is the thread's own
    bool external = false;    ///< in a stream that is being captured: a graph will record it
};

/// What a followed call says. `parameters`: as CUPTI gives them with that callback.
event_call read_event_call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                           const void* parameters) noexcept;

}  // namespace coroscope::cuda
