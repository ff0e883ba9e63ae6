// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executors: facts of kind executor, in chunks of kind `metadata`, one per executor. If two facts
// have the same number, the later one is valid. Records of kind spawn, wake and resume name
// executors by their numbers. See also docs/reference/format.md.

#include <cstdint>

namespace coroscope::trace {

// clang-format off: tables with a remark beside each row
/// The kind of an executor.
enum class executor_kind : std::uint8_t {
    other = 0,            ///< any other, behind executor_adaptor
    context = 1,          ///< a context of Asio whose type is unknown
    io_context = 2,
    thread_pool = 3,      ///< Asio's
    system_executor = 4,  ///< Asio's
    strand = 5,           ///< Asio's
    fibers = 6,           ///< a scheduler of fibers
    arena = 7,            ///< a task_arena of oneTBB
    further = 8,          ///< all executors that got no number of their own
};

/// The body of the fact, before the name, which is not NUL-terminated and may be empty.
struct executor_body {
    std::uint32_t number;  ///< from 1
    std::uint32_t inner;   ///< number of the executor that a strand runs on; 0: none, or unknown
    executor_kind kind;
    std::uint8_t reserved;
    std::uint16_t name_bytes;
    std::uint32_t reserved_too;
};
static_assert(sizeof(executor_body) == 16);
// clang-format on

/// Executor numbers have at most 16 bits. This one stands for all executors without a number of
/// their own.
inline constexpr std::uint32_t further_executors = 0xffff;

// In the value of a spawn record that has spawn_ready: the executor that the task was handed to, 0
// if it is unknown.
inline constexpr unsigned spawn_executor_shift = 11;
inline constexpr std::uint32_t spawn_executor_mask = further_executors << spawn_executor_shift;

constexpr std::uint32_t spawn_on(std::uint32_t executor) noexcept {
    return executor << spawn_executor_shift & spawn_executor_mask;
}
constexpr std::uint32_t spawn_executor_of(std::uint32_t value) noexcept {
    return (value & spawn_executor_mask) >> spawn_executor_shift;
}

}  // namespace coroscope::trace
