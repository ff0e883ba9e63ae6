// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which requests are recorded in full (profile_options::request_interval). Each thread
// counts the requests of each type, so the decision touches no memory of other threads. The first
// request of a type on a thread is recorded in full.
//
// A request inside another one is recorded as the outer one is, so that either all work of the
// outer one is recorded or none.
//
// Threads: each function acts for the calling thread.

#include <cstdint>

#include <coroscope/detail/request_notes.hpp>

namespace coroscope::detail {

/// The bits of a request_state above the number of exceptions.
enum request_state_bits : std::uint32_t {
    request_exceptions_mask = 0xffff,
    request_set_context = 1U << 16,  ///< its end must restore the context
    request_is_left_out = 1U << 17,
    request_suspended = 1U << 18,  ///< it is left out, and its task is suspended in the trace
};

/// The type and the place of a request that begins.
struct request_opening {
    std::uint64_t type = 0;  ///< equal for the requests of one type
    bool has_deadline = false;
    bool may_be_left_out = false;  ///< its end will be seen in its own context
    bool suspends = false;         ///< if it is left out, its task is suspended in the trace
};

/// Returns the opening of a request whose scope is at `address`. The caller must set the type and
/// the deadline.
request_opening opening_at(const void* address) noexcept;

/// Decides whether a request that begins is recorded in full. Returns request_state_bits for
/// enter_request() and leave_request(); 0 if its context does not change.
std::uint32_t choose_recording(const request_opening& opening) noexcept;

/// Changes the context for a request with these bits. Must be called after its begin was recorded.
void enter_request(std::uint32_t state) noexcept;

/// Restores the context at the end of a request. `task`: the task in which the request began.
void leave_request(std::uint32_t state, std::uint64_t task) noexcept;

}  // namespace coroscope::detail
