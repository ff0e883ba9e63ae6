// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of one instrumented coroutine, kept in its promise, and the transitions of a task.
//
//        spawn                 enter                     leave
//   (created) ──► spawned ──► running on a thread ──► suspended ──┐
//                                ▲      │  finish                 │ enter
//                                │      └──────────► finished     │
//                                └────────────────────────────────┘
//
// Each transition swaps the thread's context and, where something records, writes one record. While
// a task runs, `resumer` holds what the thread was doing before: its context, restored at the next
// suspension. Where nothing records and neither side carries a context, nothing is installed and a
// transition costs a few instructions; a session that starts meanwhile sees the task from its next
// transition on. Only the thread that runs (or resumes, or destroys) the coroutine touches its state.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/site.hpp>

// clang may keep the address of a thread-local across a suspension point of the coroutine that it
// inlined the access into; g++ computes it anew. On a fiber any call may be a change of threads.
#if defined(__clang__) || COROSCOPE_FIBERS
#define COROSCOPE_CONTEXT_SWITCH [[gnu::noinline]] inline
#else
#define COROSCOPE_CONTEXT_SWITCH [[gnu::always_inline]] inline
#endif

namespace coroscope::detail {

/// What a thread was doing before it entered a task.
struct resumer {
    std::uint64_t mark;
    std::uint64_t carried;
    task_state* frame;
};

/// What a suspending or finishing task leaves on the thread's stack for the time when its frame may
/// be gone. Not set where the transition was quiet.
struct departure {
    departure() noexcept : ticks(0) {}
    std::uint64_t ticks;  ///< 0 where nothing recorded it
    resumer before;
};

enum task_flags : std::uint8_t {
    task_spawned = 1U << 0,
    task_entered = 1U << 1,    ///< whoever handed over has entered it already
    task_exception = 1U << 2,  ///< an exception left it
    task_finished = 1U << 3,
    task_started = 1U << 4,    ///< ran at least once
    task_installed = 1U << 5,  ///< its context is the thread's while it runs; `before` is what to restore
    task_fiber = 1U << 6,      ///< it is a fiber
    task_any_frame = 1U << 7,  ///< its coroutine frames cannot be told apart: any frame is its own
};

struct task_state {
    std::uint64_t task = 0;        ///< id; 0 until first needed
    std::uint64_t carried = 0;     ///< session and attributes of the context that the task carries
    std::uint64_t parent = 0;      ///< parent's id << 20 | place in the frame, see locate_frame()
    const void* where = nullptr;   ///< std::source_location of the coroutine: its spawn site
    resumer before{};              ///< while it is installed; else before.mark is the ticks of its last
                                   ///< suspension (or spawn), 0 if nothing recorded that
    std::uint16_t announced = 0;   ///< low bits of the generation of the session that knows it
    std::uint8_t flags = 0;
    bool suspended = false;        ///< apart from the flags: written twice per await, without a read
    std::uint32_t await_site = 0;  ///< site id of the await that comes next; 0: unknown
};
static_assert(sizeof(task_state) == 64);

inline constexpr unsigned mark_thread_bits = 20;
inline constexpr std::uint64_t mark_thread_mask = (std::uint64_t{1} << mark_thread_bits) - 1;

// The place of a state in its frame, in the low bits of `parent`: 12 bits of the frame's size in
// units of 64 bytes, rounded up, and 8 bits of the state's offset in units of 8. Zero: unknown.
inline constexpr std::uint64_t frame_unit = 64;

/// Where the coroutine's frame begins; null where that is unknown.
inline const void* frame_address(const task_state& task) noexcept {
    const std::uintptr_t offset = (task.parent & 0xff) * 8;
    return offset == 0 ? nullptr : reinterpret_cast<const char*>(&task) - offset;
}
inline std::uint64_t frame_bytes(const task_state& task) noexcept {
    return (task.parent >> 8 & 0xfff) * frame_unit;
}

/// Notes where in its frame the state stands, and the frame's size if it was the last one allocated
/// on this thread.
inline void locate_frame(task_state& task, const void* frame) noexcept {
    const std::uintptr_t offset =
        (reinterpret_cast<std::uintptr_t>(&task) - reinterpret_cast<std::uintptr_t>(frame)) / 8;
    if (offset > 0xff) return;
    task.parent |= offset;
    const std::uint64_t units = (this_thread.new_frame_bytes + frame_unit - 1) / frame_unit;
    if (this_thread.new_frame == frame && units <= 0xfff) task.parent |= units << 8;
}

/// Has the thread used its block of ids?
inline constexpr std::uint64_t task_id_block = 1024;
[[gnu::always_inline]] inline bool out_of_task_ids() noexcept {
    return this_thread.next_task % task_id_block == 0;
}

/// A fresh task id, unique in the process. From a per-thread block; refills it at its end.
COROSCOPE_API std::uint64_t refill_task_ids() noexcept;
[[gnu::always_inline]] inline std::uint64_t new_task_id() noexcept {
    if (out_of_task_ids()) [[unlikely]]
        return refill_task_ids();
    const std::uint64_t id = this_thread.next_task;
    this_thread.next_task = id + 1;
    return id;
}

/// Site id of a std::source_location, interned on first sight; 0 where nothing records.
COROSCOPE_API COROSCOPE_NO_PLT std::uint32_t await_site_id(const void* location) noexcept;
COROSCOPE_API std::uint32_t await_site_id(site& label) noexcept;

/// The current context's session or attributes change: finds out what records here now.
COROSCOPE_API void rebind(std::uint64_t carried) noexcept;

[[gnu::always_inline]] inline void install(std::uint64_t mark, std::uint64_t carried, task_state* frame) noexcept {
    this_thread.mark = mark;
    this_thread.frame = frame;
    if (this_thread.carried != carried) [[unlikely]]
        rebind(carried);
}

inline void set_flags(task_state& task, unsigned set, unsigned clear = 0) noexcept {
    task.flags = static_cast<std::uint8_t>((task.flags | set) & ~clear);
}

/// Does anything need the task's context on this thread, or that the thread's is put aside?
[[gnu::always_inline]] inline bool needs_context(const task_state& task) noexcept {
    return (static_cast<std::uint64_t>(load_gate()) | this_thread.carried | task.carried) != 0;
}

/// What the thread is doing, whoever that is.
inline resumer current_resumer() noexcept {
    return {this_thread.mark, this_thread.carried, this_thread.frame};
}

/// The context of a task that has its id becomes the thread's.
inline void install_task(task_state& task) noexcept {
    set_flags(task, task_installed);
    install((task.task << mark_thread_bits) | (this_thread.mark & mark_thread_mask), task.carried, &task);
}

/// The slow halves, where something records or a context is carried.
COROSCOPE_API COROSCOPE_NO_PLT void spawn_active(task_state& task, bool started) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void suspend_active(task_state& task, departure& leaving) noexcept;
COROSCOPE_API void cancel_active(task_state& task, const resumer& before) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void resume_active(task_state& task) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void finish_active(task_state& task, departure& leaving) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void transfer_active(task_state& awaiter, task_state& awaited) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void finish_transfer_active(task_state& finished, task_state& resumed) noexcept;
COROSCOPE_API void destroy_active(task_state& task) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void restore(const resumer& before) noexcept;

/// For anomaly detection (anomaly.hpp), each called where load_gate() != 0. The exception that is being handled
/// leaves the task; and then goes on up the stack, because the promise did not keep it.
COROSCOPE_API void exception_leaves(const task_state& task) noexcept;
COROSCOPE_API void exception_passes(const task_state& task) noexcept;
/// An exception leaves something that is no coroutine, and cannot be looked at.
COROSCOPE_API void unseen_exception_leaves(std::uint64_t task) noexcept;
/// Are results looked at? And one that its validator refused.
COROSCOPE_API bool validates_results() noexcept;
COROSCOPE_API void anomalous_result(const task_state& task) noexcept;

/// Does this thread or this task take part in anything?
[[gnu::always_inline]] inline bool is_active(const task_state& task) noexcept {
    const auto installed = static_cast<std::uint64_t>(task.flags & task_installed);
    return (static_cast<std::uint64_t>(load_gate()) | this_thread.carried | installed) != 0;
}

/// The task is created: called once, just before its initial suspension or its first statement.
COROSCOPE_CONTEXT_SWITCH void spawn_task(task_state& task, bool started) noexcept {
    set_flags(task, started ? task_spawned | task_started : task_spawned);
    if ((static_cast<std::uint64_t>(load_gate()) | (this_thread.mark >> mark_thread_bits) | this_thread.carried) !=
        0) [[unlikely]]
        spawn_active(task, started);
}

/// The task is about to suspend. False where that is quiet; else the context stays the task's until
/// the inner await_suspend has returned, and the caller then restores leaving.before.
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH bool suspend_task(task_state& task, departure& leaving) noexcept {
    if (is_active(task)) [[unlikely]] {
        suspend_active(task, leaving);
        return true;
    }
    task.suspended = true;
    return false;
}

/// The task runs on this thread from now on.
COROSCOPE_CONTEXT_SWITCH void resume_task(task_state& task) noexcept {
    task.suspended = false;
    if ((task.flags & task_entered) != 0) [[unlikely]]
        return set_flags(task, 0, task_entered);
    if (needs_context(task)) [[unlikely]]
        return resume_active(task);
    if ((task.flags & task_started) == 0) set_flags(task, task_started);
}

/// The task has run to its end (final suspension). False where that is quiet, as above.
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH bool finish_task(task_state& task, departure& leaving) noexcept {
    set_flags(task, task_finished);
    if (!is_active(task)) [[likely]]
        return false;
    finish_active(task, leaving);
    return true;
}

/// A symmetric transfer that left at `ticks` resumes the coroutine at `frame_address` next on this
/// thread: its wake is its resume.
COROSCOPE_CONTEXT_SWITCH void expect_handover(void* frame_address, std::uint64_t ticks) noexcept {
    if (ticks == 0) [[likely]]
        return;
    this_thread.handover_target = frame_address;
    this_thread.handover_ticks = ticks;
}

/// The coroutine is destroyed before its end. One that is destroyed while it runs (by itself, out of
/// an inner await_suspend) has been left already.
COROSCOPE_CONTEXT_SWITCH void destroy_task(task_state& task) noexcept {
    set_flags(task, task_finished);
    if (is_active(task) || task.carried != 0) [[unlikely]]
        destroy_active(task);
}

/// Both sides of an await are ours: the awaiter suspends and the awaited runs, in one moment.
COROSCOPE_CONTEXT_SWITCH void transfer_task(task_state& awaiter, task_state& awaited) noexcept {
    if (is_active(awaiter) || needs_context(awaited)) [[unlikely]]
        return transfer_active(awaiter, awaited);
    awaiter.suspended = true;
}

/// The awaited task has finished and its awaiter runs on, in one moment.
COROSCOPE_CONTEXT_SWITCH void finish_and_resume(task_state& finished, task_state& resumed) noexcept {
    set_flags(finished, task_finished);
    if (is_active(finished) || needs_context(resumed)) [[unlikely]]
        finish_transfer_active(finished, resumed);
}

}  // namespace coroscope::detail
