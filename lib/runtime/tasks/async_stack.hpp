// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes an async_stack out of the table of live tasks.

#include <coroscope/async_stack.hpp>
#include <coroscope/detail/task_state.hpp>

#include "../base/text_writer.hpp"

namespace coroscope {

class async_stack_builder {
public:
    /// The stack of a task and its ancestors. `state`: the task's own, if it is a coroutine and at
    /// hand, else null.
    static async_stack build(std::uint64_t task, const detail::task_state* state) noexcept;

    /// Is `ancestor` the task itself or above it? As far as the table knows.
    static bool descends(std::uint64_t task, std::uint64_t ancestor) noexcept;

    /// The task that awaits `task`, else its parent; 0: none, or unknown.
    static std::uint64_t above(std::uint64_t task) noexcept;

    static const char* how_to_track() noexcept;

    /// "handle (server.cpp:80)"
    static void write_place(runtime::text_writer& to, const async_place& place) noexcept;
};

}  // namespace coroscope
