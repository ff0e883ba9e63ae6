// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of facts: records of kind `fact` have a size of their own, so that a reader skips the
// kinds that it does not know. See also docs/reference/format.md.

#include <cstdint>

namespace coroscope::trace {

/// The kind of a fact: the low eight bits of the tag's id. The other bits belong to the kind; they
/// are 0 unless its header says otherwise. Below 16: in chunks of kind `kernel`, with
/// CLOCK_MONOTONIC as the first word. From 16 to 31: in chunks of kind `records`, with ticks as the
/// first word. From 32 on: in chunks of kind `metadata`, with 0 as the first word.
enum class fact_kind : std::uint8_t {
    thread_times = 1,    ///< thread_times_body (kernel_format.hpp)
    switches_lost = 2,   ///< switches_lost_body
    blocked = 3,         ///< blocked_body
    resource_wait = 16,  ///< resource_wait_body (resource_format.hpp)
    blocking_call = 17,  ///< blocking_call_body (blocking_format.hpp)
    lock_wait = 18,      ///< lock_wait_body (lock_format.hpp)
    request = 19,        ///< request_body (request_format.hpp), and the label of some tasks
    value = 20,          ///< value_body (value_format.hpp)
    mark = 21,           ///< mark_body (await_format.hpp)
    await_outcome = 22,  ///< await_outcome_body (await_format.hpp)
    executor = 32,       ///< executor_body (executor_format.hpp)
    object = 33,         ///< object_body and a name (await_format.hpp)
    spawn_place = 34,    ///< spawn_place_body (spawn_format.hpp)
    spawn_calls = 35,    ///< spawn_calls_body and addresses (spawn_format.hpp)
};

inline constexpr unsigned fact_bits_shift = 8;  ///< above the kind: the bits of the kind

/// The tag's id of a fact.
constexpr std::uint32_t fact_id(fact_kind kind, std::uint32_t bits = 0) noexcept {
    return static_cast<std::uint32_t>(kind) | bits << fact_bits_shift;
}
constexpr fact_kind fact_kind_of(std::uint32_t id) noexcept {
    return static_cast<fact_kind>(id & 0xffU);
}
constexpr std::uint32_t fact_bits_of(std::uint32_t id) noexcept { return id >> fact_bits_shift; }

}  // namespace coroscope::trace
