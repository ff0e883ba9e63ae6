// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a thread knows of Asio, and the records that are written about Asio's tasks.

#include <cstdint>

#include <coroscope/integration/asio.hpp>

#include "../runtime/attribute_nodes.hpp"
#include "../runtime/frames.hpp"
#include "../runtime/live_transitions.hpp"
#include "../runtime/recorder.hpp"

namespace coroscope::runtime {

/// A thread's outermost frame, made when first needed; its record frees it.
struct outermost_frame : detail::handler_frame, own_memory {};

}  // namespace coroscope::runtime

namespace coroscope::asio {

using namespace runtime;
using detail::load_gate;

/// What a suspension that began the short way left out.
void spell_out(frame& inside) noexcept;

/// A task runs in the frame from here on, one more than before. `plain`: as frame_plain_task says.
inline void add_task(frame& inside, bool plain) noexcept {
    if (!inside.runs_task())
        inside.state = (inside.state & ~std::uint32_t{frame_plain_task}) |
                       (plain ? std::uint32_t{frame_plain_task} : 0U);
    inside.state += frame_task;
}
inline void remove_task(frame& inside) noexcept {
    if (inside.runs_task()) inside.state -= frame_task;
    if (!inside.runs_task()) inside.state &= ~std::uint32_t{frame_plain_task};
}

/// The innermost frame of this thread, with all of its suspension spelt out. Where none can be had, because the thread
/// has left already or memory is short, a stand-in that is forgotten with the block: a suspension that has begun in it
/// is told of at its end.
class innermost {
public:
    innermost() noexcept
        : at_(this_thread.invocation != nullptr ? this_thread.invocation : find_outermost()) {
        if (at_->is(frame_suspends_plain)) [[unlikely]]
            spell_out(*at_);
    }
    ~innermost() {
        if (at_ == &stand_in_) [[unlikely]]
            forget();
    }
    innermost(const innermost&) = delete;
    innermost& operator=(const innermost&) = delete;

    frame& operator*() const noexcept { return *at_; }
    frame* operator->() const noexcept { return at_; }

private:
    frame* find_outermost() noexcept;
    void forget() noexcept;

    union {
        // NOLINTNEXTLINE(readability-identifier-naming): private as the union is
        frame stand_in_;  ///< made by find_outermost()
    };
    frame* at_;
};

/// Copies what a frame does for an await; of a suspension that is none nothing but that.
inline void copy_awaiting(awaiting& to, const awaiting& from) noexcept {
    to.whose = from.whose;
    to.suspends = from.suspends;
    if (from.suspends) [[unlikely]]
        to.begun = from.begun;
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

/// The suspension that has begun there is of this site. Its thread goes on with what it did before.
void end_suspension(frame& inside, std::uint32_t site) noexcept;

/// The same by the operation that seems to be awaited.
void settle_suspension(frame& inside) noexcept;
inline void settle(frame& inside) noexcept {
    if (inside.suspends()) [[unlikely]]
        settle_suspension(inside);
}
/// The same in whatever frame is the innermost. One that nobody has asked for is in the middle of nothing.
inline void settle() noexcept {
    if (this_thread.invocation != nullptr) settle(*this_thread.invocation);
}

}  // namespace coroscope::asio
