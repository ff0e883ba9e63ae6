// SPDX-License-Identifier: Apache-2.0
#pragma once

// The types that both halves of Asio's tracking share: the task behind a co_spawn or a handler, and
// the test that precedes everything else. This header must not include a header of Asio.
//
// Thread-safety: a thread may use only the tasks, frames and suspensions of the work that it runs
// itself.

#include <cstdint>

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/task_transitions.hpp>

namespace coroscope::asio {

/// Flags of an Asio task that runs while nothing needs its context. Its resumption was not
/// recorded.
inline constexpr std::uint8_t untold_flags =
    detail::task_any_frame | detail::task_known | detail::task_started;
/// The suspension of the task was recorded, and its resumption was not.
inline constexpr std::uint8_t told_suspended = detail::task_spawned;

/// An Asio task. It lives beside its work: in the promise of a co_spawn's entry point, or in the
/// invocation of a handler. Only the thread that runs, resumes or destroys that work may touch it.
struct tracked_task : detail::task_state {
    tracked_task() noexcept { detail::set_flags(*this, detail::task_any_frame); }

    [[nodiscard]] bool is(unsigned flag) const noexcept { return (flags & flag) != 0; }

    const void* location = nullptr;  ///< std::source_location of the last co_await that it reached
    /// Location of its first co_await, which is in the function given to co_spawn and names the
    /// task.
    const void* origin = nullptr;
    std::uint32_t serial = 0;  ///< of its latest await
    bool awaited = false;      ///< another task awaits it
    std::uint8_t outcome = 0;  ///< of its latest await, as recorded: trace::await_outcome
    /// It had several awaits in one expression: an exception may belong to any of them.
    bool mixes_awaits = false;
};

/// Returns whether a session records here, or the thread runs a task or carries attributes.
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH bool is_active() noexcept {
    if (detail::load_gate() != 0) return true;
    const auto& thread = detail::here();
    return (thread.mark >> detail::mark_thread_bits | thread.carried >> 32) != 0;
}

/// Further facts about a purpose, beside its task and await. At most 11 bits, so that five zero
/// bits precede the number of the executor.
enum purpose_bits : std::uint32_t {
    purpose_handler = 1U << 0,  ///< only in an operation: its handler is a task of its own
    purpose_step = 1U << 1,     ///< a step of the task's await, without attributes
    /// the same, with the task's attributes; without a task: a result's way back
    purpose_carrying = 1U << 2,
    purpose_back = 1U << 3,  ///< the result of an ended co_spawn, on its way to the waiting handler
    purpose_initiating = 1U << 4,  ///< the awaited operation is being started
    /// Beside purpose_initiating: the suspension was recorded, and its site may still be improved.
    purpose_placed = 1U << 5,
    purpose_ready = 1U << 6,  ///< beside a step: the task was ready as soon as it suspended
};

/// The owner of operations that are created outside a running task. The short path writes and
/// compares `which` as a whole: a read of another size than the write would stall the processor
/// (failed store-to-load forwarding).
struct purpose {
    std::uint64_t task;     ///< id: the operations are steps of this task's await; 0: of no task
    std::uint64_t carried;  ///< session and attributes of that task
    /// Serial number of the await, above it purpose_bits, and above these the number of the
    /// executor that has the operation. 0: no purpose, whatever the other members hold.
    std::uint64_t which = 0;

    static constexpr unsigned bits_at = 32;
    static constexpr unsigned executor_at = 48;
    static constexpr std::uint64_t executor_mask = ~std::uint64_t{0} << executor_at;
    static constexpr std::uint64_t make(std::uint32_t serial, std::uint32_t bits) noexcept {
        return serial | std::uint64_t{bits} << bits_at;
    }
    [[nodiscard]] constexpr std::uint32_t serial() const noexcept {
        return static_cast<std::uint32_t>(which);
    }
    [[nodiscard]] constexpr std::uint32_t executor() const noexcept {
        return static_cast<std::uint32_t>(which >> executor_at);
    }
    [[nodiscard]] constexpr bool is(std::uint32_t bits) const noexcept {
        return (which & make(0, bits)) != 0;
    }
    [[nodiscard]] constexpr bool has_task() const noexcept { return which != 0 && task != 0; }
};

/// operation_state::wake is the expiry of a timer, in nanoseconds of CLOCK_MONOTONIC.
inline constexpr std::uint64_t wake_expiry = std::uint64_t{1} << 63;
/// The operation was cancelled: the table of recent cancellations may have the wake.
inline constexpr std::uint64_t wake_cancelled = std::uint64_t{1} << 62;
/// Beside ticks: until then the result of a co_spawn waited in the queue of its own executor.
inline constexpr std::uint64_t wake_returned = std::uint64_t{1} << 61;

/// The data that follow an operation from its creation to its handler. They are set together when
/// the tracking sees the creation; until then the purpose is empty.
struct operation_state {
    /// For a handler: the id of its task and, in place of the await, the session that has the
    /// task's spawn record.
    purpose whose;
    /// Ticks when it became ready, 0 if unknown; or wake_expiry or wake_cancelled. On a result's
    /// way back, wake_returned may be set beside the ticks.
    std::uint64_t wake;
    /// Mark of the waker. Until the wake is known, and beside wake_expiry and wake_cancelled: the
    /// address of the operation's object.
    std::uint64_t waker;
};

/// Returns the await that is being started or continued on this thread, if any. For the later steps
/// of the await that Asio does not see, because another library takes them.
COROSCOPE_API purpose current_await() noexcept;

/// Returns the task that is suspending on this thread, in the await that is being started; 0 if its
/// suspension is not recorded. For an awaited operation that another library starts.
COROSCOPE_API std::uint64_t suspending_task() noexcept;

/// Until the end of the block, operations created on this thread are steps of that await. Must be
/// used on a thread that runs no handler.
class [[nodiscard]] await_step {
public:
    COROSCOPE_API explicit await_step(const purpose& of) noexcept;
    COROSCOPE_API ~await_step();
    await_step(const await_step&) = delete;
    await_step& operator=(const await_step&) = delete;

private:
    purpose before_;
};

/// A suspension that has begun and is not recorded yet, because the awaited operation will name it.
/// Until then the thread keeps the task's context.
struct suspension {
    std::uint64_t ticks;
    const void* location;
    detail::resumer before;  ///< the context with which the thread goes on
    // Set if the frame's state has frame_suspends; else they follow from that state.
    std::uint64_t task;
    const char* type;       ///< type of the operation that is probably awaited
    const char* operation;  ///< null: none yet
    std::uint32_t serial;
    std::uint32_t object;  ///< number of the awaited object; valid if there is an operation
};

/// The await that a frame serves. These nest, if the awaited work runs inside the call that starts
/// it.
struct awaiting {
    purpose whose;
    bool suspends;
    suspension begun;  ///< valid if has_begun()

    [[nodiscard]] bool has_begun() const noexcept { return suspends || whose.is(purpose_placed); }
};

/// The activity of a frame. The short path compares it as a whole.
enum frame_state : std::uint32_t {
    frame_idle = 0,
    frame_suspends = 1U << 0,  ///< a suspension has begun
    /// the same on the short path: in the await that `whose` names
    frame_suspends_plain = 1U << 1,
    frame_begins = 1U << 2,  ///< an await begins; its location and operation are not yet known
    /// the same outside handlers, or while another await is being started
    frame_begins_nested = 1U << 3,
    frame_outermost = 1U << 4,   ///< represents the work outside handlers
    frame_plain_task = 1U << 5,  ///< its task carries the thread's earlier context; no attributes
    frame_task = 1U << 6,        ///< times the number of nested tasks that run in it
};

}  // namespace coroscope::asio

namespace coroscope::detail {

/// One invocation of a handler on a thread's stack, or the work outside handlers. Frames nest. Only
/// their own thread may touch them.
struct handler_frame : asio::operation_state {
    std::uint32_t state = asio::frame_idle;
    std::uint16_t starting = 0;  ///< locations in which a nested await is being started
    /// Outcome of the operation whose completion runs: trace::await_outcome.
    std::uint8_t outcome = 0;
    handler_frame* outer;    ///< null: none, or the outermost
    asio::suspension begun;  ///< valid if suspends()
    asio::awaiting before;   ///< its previous await, if the one that begins is nested

    [[nodiscard]] bool is(std::uint32_t bits) const noexcept { return (state & bits) != 0; }
    [[nodiscard]] bool suspends() const noexcept {
        return is(asio::frame_suspends | asio::frame_suspends_plain);
    }
    [[nodiscard]] bool runs_task() const noexcept { return state >= asio::frame_task; }
};

}  // namespace coroscope::detail

namespace coroscope::asio {

using frame = detail::handler_frame;

/// The way in which the await that a location starts has begun.
enum class await_start : std::uint8_t {
    none,    ///< no await: a step of a composed operation
    plain,   ///< in a handler's invocation, while nothing else is awaited
    nested,  ///< elsewhere, or while another await is being started
    other,   ///< plain or nested: not examined yet
};

/// A stretch of source that starts an operation. The operation is awaited by a coroutine, or it is
/// a step of a composed operation, which does not count here.
class location {
public:
    location(const char*, int, const char*) noexcept : entered_(enter_plain()) {
        if (entered_ == await_start::other) [[unlikely]]
            enter();
    }
    ~location() {
        if (entered_ != await_start::none && !(entered_ == await_start::plain && leave_plain()))
            leave();
    }
    location(const location&) = delete;
    location& operator=(const location&) = delete;

private:
    COROSCOPE_CONTEXT_SWITCH static await_start enter_plain() noexcept {
        frame* const inside = detail::here().invocation;
        if (inside == nullptr) return await_start::none;
        if (inside->state == (frame_begins | frame_suspends_plain)) [[likely]] {
            inside->state = frame_suspends_plain;
            return await_start::plain;
        }
        return inside->is(frame_begins | frame_begins_nested) ? await_start::other
                                                              : await_start::none;
    }
    // Returns whether the tracking has seen everything that was started.
    COROSCOPE_CONTEXT_SWITCH static bool leave_plain() noexcept {
        frame* const inside = detail::here().invocation;
        if (inside == nullptr || inside->state != frame_idle) [[unlikely]]
            return false;
        inside->whose.which = 0;
        return true;
    }
    COROSCOPE_API void enter() noexcept;
    COROSCOPE_API void leave() noexcept;

    await_start entered_;
    awaiting before_;  ///< as it was before the await; set if the await is nested
};

}  // namespace coroscope::asio
