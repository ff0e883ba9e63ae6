// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows events through CUPTI's callbacks for the calls that record them, wait for them and
// destroy them, on the threads that make these calls. A wait of a stream becomes a record of the
// session's trace. The last recording of each event is kept for its awaiters.
//
// Thread-safety: begin() must be called by one thread at a time. Any thread may call called() and
// find().

#include <coroscope/detail/device_recorder.hpp>

#include "cupti_library.hpp"
#include "event_calls.hpp"
#include "event_table.hpp"

namespace coroscope::cuda {

class event_follower {
public:
    /// Asks CUPTI for callbacks. If CUPTI refuses, returns its answer, and all events stay unknown.
    CUptiResult begin(const cupti_functions& cupti, CUpti_SubscriberHandle subscriber) noexcept;

    /// Handles a callback for a call. `inner` says that the call was made by another call for which
    /// CUPTI calls us back.
    void called(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const CUpti_CallbackData& data,
                bool inner) noexcept;

    [[nodiscard]] detail::device_event find(const void* event) const noexcept {
        return events_.find(event);
    }

private:
    void recorded(const event_call& call, std::uint32_t correlation) noexcept;
    void made_to_wait(const event_call& call, std::uint32_t correlation) noexcept;

    event_table events_;
};

}  // namespace coroscope::cuda
