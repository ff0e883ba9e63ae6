// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of a request: the calls and waits that its task makes one after the other.

#include <cstdint>
#include <vector>

#include "check_input.hpp"

namespace coroscope::analysis::inline checks {

/// One call or wait. Steps of a flow do not overlap.
struct flow_step {
    std::uint32_t place = 0;  ///< a number of check_input::places()
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t suspended_ns = 0;  ///< suspended, or waiting for an unknown wake
    std::int64_t queued_ns = 0;
    std::uint32_t await = none;  ///< its only await: index into trace::awaits; none: several
    std::uint32_t child = none;  ///< the awaited task
    bool is_timer = false;       ///< only a wait for a timer, under its own name
    bool is_call = false;        ///< a scope, a task, or a named wait
    bool failed = false;         ///< it ended with an error, an exception or a cancellation
    bool is_unproven = false;    ///< records are lost, and a wake in it is one of them

    [[nodiscard]] std::int64_t length_ns() const noexcept { return end_ns - start_ns; }
    /// The part that a shorter queue would not shorten.
    [[nodiscard]] std::int64_t own_ns() const noexcept { return length_ns() - queued_ns; }
};

/// The steps on the level at which the request has several. A scope or an awaited task that takes
/// nearly all of the time is replaced by its own steps.
struct request_flow {
    std::uint32_t task = none;   ///< the task that makes the steps
    std::uint32_t scope = none;  ///< the scope around them; none: the whole task
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::vector<flow_step> steps{};        ///< by start
    std::vector<request_flow> wrappers{};  ///< the levels around it, each with one step
};

[[nodiscard]] request_flow flow_of(check_input& input, const checked_request& request);

/// Returns the place of a task's work: its first scope if that takes most of its time, else the
/// task.
[[nodiscard]] std::uint32_t place_of_child(check_input& input, std::uint32_t task);

}  // namespace coroscope::analysis::inline checks
