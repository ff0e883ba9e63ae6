// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CUDA calls that record events or wait for them, and their contents: CUPTI's callbacks in
// terms of events and streams.

#include <cstdint>
#include <span>

#include <cupti.h>

namespace coroscope::cuda {

/// A function for which CUPTI must call us back.
struct followed_call {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    bool needed;  ///< without it, the known recordings of events would be wrong
};
std::span<const followed_call> followed_calls() noexcept;

enum class event_act : std::uint8_t {
    none,
    record,   ///< `event` follows the earlier work of `stream`
    wait,     ///< `stream` waits for `event`
    destroy,  ///< `event` is destroyed, and its handle may be reused
    /// From now on a graph or another process may record `event` at any time.
    elsewhere,
};

struct event_call {
    event_act act = event_act::none;
    const void* event = nullptr;
    CUstream stream = nullptr;
    bool per_thread = false;  ///< a null stream is the thread's own stream
    bool external = false;    ///< in a captured stream: a graph will record the event
};

/// Returns the contents of a followed call. `parameters` must be those of CUPTI's callback for that
/// call.
event_call read_event_call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                           const void* parameters) noexcept;

}  // namespace coroscope::cuda
