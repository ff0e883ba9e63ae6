// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows events by CUPTI's callbacks at the calls that record them, wait for them and destroy them, on the threads that
// make these calls. What a stream waits for becomes a record of the session's trace; where an event was recorded last
// is kept, for who awaits it.
//
// Threads: begin and called as CUPTI says (one at a time; any), find any.

#include <coroscope/detail/device_recorder.hpp>

#include "cupti_library.hpp"
#include "event_calls.hpp"
#include "event_table.hpp"

namespace coroscope::cuda {

class event_follower {
public:
    /// Asks CUPTI to call back. Where it does not, its answer is given, and all events stay unknown.
    CUptiResult begin(const cupti_functions& cupti, CUpti_SubscriberHandle subscriber) noexcept;

    /// A callback at a call. `inner`: the call is made by another one that is told of, too.
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
