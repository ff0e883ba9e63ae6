// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a thread knows of Asio, and the records that are written about Asio's tasks.

#include <cstdint>

#include <coroscope/integration/asio.hpp>

#include "../runtime/attribute_nodes.hpp"
#include "../runtime/frames.hpp"
#include "../runtime/live_transitions.hpp"
#include "../runtime/recorder.hpp"

namespace coroscope::asio {

using namespace runtime;
using detail::load_gate;

struct thread_asio {
    frame outermost;         ///< stands for what runs in no handler
    frame* inner = nullptr;  ///< the innermost invocation; null: the outermost frame
    suspension suspending{};
    awaiting before{};           ///< what it was before the await that begins, where that is nested
    std::uint32_t starting = 0;  ///< locations in which a nested await is being started
    await_start await_begins =
        await_start::none;  ///< no location or operation of it has been seen yet
};
static_assert(sizeof(thread_asio) <= 320, "initial-exec thread-locals must stay small");
extern __thread thread_asio here __attribute__((tls_model("initial-exec")));

inline frame& innermost() noexcept { return here.inner == nullptr ? here.outermost : *here.inner; }

/// Copies what a thread does for an await; of a suspension that is none nothing but that.
inline void copy_awaiting(awaiting& to, const purpose& created, const suspension& begun) noexcept {
    to.created = created;
    to.suspending.task = begun.task;
    if (begun.task != 0) [[unlikely]]
        to.suspending = begun;
}

inline std::uint64_t current_task() noexcept { return task_of(this_thread.mark); }

/// A mark of the given task on this thread.
inline std::uint64_t mark_here(std::uint64_t task) noexcept {
    return task << trace::mark_thread_bits | (this_thread.mark & detail::mark_thread_mask);
}

/// Writes a spawn record, and lets the session know the task by it.
void write_spawn(std::uint64_t task, std::uint16_t& announced, std::uint64_t ticks,
                 std::uint32_t site, std::uint32_t flags, std::uint64_t parent,
                 std::uint64_t carried) noexcept;

/// May this transition of the task go the short way? `before`: its flags, which tell whether it runs.
inline bool is_plain(const tracked_task& task, unsigned before) noexcept {
    constexpr unsigned mask = detail::task_started | detail::task_installed | detail::task_finished;
    return (task.flags & mask) == before && detail::is_plain(task) && here.suspending.task == 0;
}

/// A place for records about a task; one that is older than the session is announced first.
inline char* reserve_for(tracked_task& about) noexcept {
    char* at = reserve();
    if (at == nullptr || detail::knows(about.announced)) [[likely]]
        return at;
    write_spawn(about.task, about.announced, 0, 0, trace::spawn_adopted, 0, about.carried);
    return reserve();
}

/// In a place that was taken for it. `waker`: the mark of whoever woke the task.
inline void fill_wake(char* at, std::uint64_t ticks, std::uint64_t waker,
                      std::uint64_t task) noexcept {
    const std::uint64_t thread = waker & detail::mark_thread_mask;
    fill_record(at, ticks, make_tag(record_kind::wake, 0, thread), task, task_of(waker));
}

/// The task runs on this thread from here on; `wake` ticks (0: unknown) and `waker` say since when it could, or
/// resume_ready among the `flags`.
void enter(tracked_task& entered, std::uint64_t wake, std::uint64_t waker,
           std::uint32_t flags = 0) noexcept;

/// The task is over; `next` is the task that is current then.
void record_finish(tracked_task& ended, std::uint64_t ticks, std::uint32_t flags,
                   std::uint64_t next) noexcept;

/// The suspension that has begun is of this site. Its thread goes on with what it did before.
void end_suspension(std::uint32_t site) noexcept;

/// The same by the operation that seems to be awaited, if any.
void settle_suspension() noexcept;
inline void settle() noexcept {
    if (here.suspending.task != 0) [[unlikely]]
        settle_suspension();
}

}  // namespace coroscope::asio
