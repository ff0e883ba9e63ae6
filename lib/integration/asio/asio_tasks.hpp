// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records about Asio's tasks: those of co_spawn, and those behind handlers.

#include <cstdint>

#include "asio_operations.hpp"
#include "asio_thread.hpp"

namespace coroscope::asio {

/// Writes a spawn record, by which the session knows the task.
void write_spawn(std::uint64_t task, std::uint16_t& announced, std::uint64_t ticks,
                 std::uint32_t site, std::uint32_t flags, std::uint64_t parent,
                 std::uint64_t carried) noexcept;

/// Reserves a place for a record about a task. A task that is older than the session is announced
/// first. Returns null for a task that is left out.
inline char* reserve_for(tracked_task& about) noexcept {
    char* at = reserve();
    if (at == nullptr || detail::knows(about.announced)) [[likely]]
        return at;
    if (is_left_out(detail::carried_session(about.carried))) return nullptr;
    const std::uint32_t site = about.origin == nullptr || is_library_place(about.origin)
                                   ? 0
                                   : coroutine_site(about.origin, nullptr);
    write_spawn(about.task, about.announced, 0, site, trace::spawn_adopted, 0, about.carried);
    return reserve();
}

/// Fills a reserved place. `wake` and `waker`: as in operation_state, without wake_cancelled and
/// wake_returned.
inline void fill_wake(char* at, std::uint64_t wake, std::uint64_t waker, std::uint64_t task,
                      std::uint32_t executor) noexcept {
    if ((wake & wake_expiry) != 0)
        return fill_record(at, wake & ~wake_expiry,
                           make_tag(record_kind::wake, executor, trace::wake_timer), task, 0);
    const std::uint64_t thread = waker & detail::mark_thread_mask;
    fill_record(at, wake, make_tag(record_kind::wake, executor, thread), task, task_of(waker));
}

/// The task runs on this thread from now on. `wake` and `waker`: as in operation_state; or it was
/// ready as resume_ready in `flags` says. `executor`: number of the executor that had it.
void enter(tracked_task& entered, std::uint64_t wake, std::uint64_t waker, std::uint32_t executor,
           std::uint32_t flags = 0) noexcept;

/// The task is over. `next` is the task that is then current.
void record_finish(tracked_task& ended, std::uint64_t ticks, std::uint32_t flags,
                   std::uint64_t next) noexcept;

}  // namespace coroscope::asio
