// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the two halves of Asio's tracking share: the task behind a co_spawn or a handler, and the
// question that is asked before anything else is done. No header of Asio is needed here.

#include <cstdint>

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope::asio {

/// A task. It stands where the work stands: in the promise of a co_spawn's entry point, or in the
/// invocation of a handler. Touched only by the thread that runs, resumes or destroys that work.
struct tracked_task : detail::task_state {
    tracked_task() noexcept { detail::set_flags(*this, detail::task_any_frame); }

    [[nodiscard]] bool is(detail::task_flags flag) const noexcept { return (flags & flag) != 0; }

    const void* location = nullptr;  ///< std::source_location of the co_await that it reached last
    std::uint32_t serial = 0;        ///< of its latest await
    bool awaited = false;            ///< another task awaits it
};

/// Does anything record here, or does the thread run a task or carry attributes?
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH bool is_active() noexcept {
    if (detail::load_gate() != 0) return true;
    const auto& thread = detail::here();
    return (thread.mark >> detail::mark_thread_bits | thread.carried >> 32) != 0;
}

/// What a purpose says beside the task and its await.
enum purpose_bits : std::uint32_t {
    purpose_handler = 1U << 0,     ///< of an operation only: its handler is a task of its own
    purpose_step = 1U << 1,        ///< a step of what the task awaits, without attributes
    purpose_carrying = 1U << 2,    ///< the same, with those of the task; of no task: a way back
    purpose_back = 1U << 3,        ///< an ended co_spawn's result, on its way to whoever awaits it
    purpose_initiating = 1U << 4,  ///< the awaited operation is being started
    purpose_ready = 1U << 6,       ///< beside a step: the task was ready as soon as it suspended
};

/// For whom operations are created that no running task creates. The short way writes and compares `which` as a whole:
/// a word that is read in another size than it was written in stalls the processor.
struct purpose {
    std::uint64_t task;     ///< id: they are steps of what this task awaits; 0: of none
    std::uint64_t carried;  ///< what that task carries
    /// Which of its awaits, and purpose_bits above that. 0: none, whatever the others say.
    std::uint64_t which = 0;

    static constexpr unsigned bits_at = 32;
    static constexpr std::uint64_t make(std::uint32_t serial, std::uint32_t bits) noexcept {
        return serial | std::uint64_t{bits} << bits_at;
    }
    [[nodiscard]] constexpr std::uint32_t serial() const noexcept {
        return static_cast<std::uint32_t>(which);
    }
    [[nodiscard]] constexpr bool is(std::uint32_t bits) const noexcept {
        return (which & make(0, bits)) != 0;
    }
    [[nodiscard]] constexpr bool has_task() const noexcept { return which != 0 && task != 0; }
};

/// What follows an operation from its creation to its handler. Set as a whole when its creation is seen; until then
/// its purpose says that nobody saw that.
struct operation_state {
    /// Of a handler: the id of its task, and in place of the await the session that knows it.
    purpose whose;
    std::uint64_t wake;   ///< ticks when it became ready, 0 where nobody saw that
    std::uint64_t waker;  ///< mark of whoever made it ready
};

/// The await that is being started or carried on here, if any: for its later steps that Asio does not see, because
/// another library takes them.
COROSCOPE_API purpose current_await() noexcept;

/// The task whose suspension has begun here, in the await that is being started; 0: none that anybody records. For what
/// it awaits, if another library starts that.
COROSCOPE_API std::uint64_t suspending_task() noexcept;

/// Until the end of the block, on a thread where no handler runs, what is created is a step of that await.
class [[nodiscard]] await_step {
public:
    COROSCOPE_API explicit await_step(const purpose& of) noexcept;
    COROSCOPE_API ~await_step();
    await_step(const await_step&) = delete;
    await_step& operator=(const await_step&) = delete;

private:
    purpose before_;
};

/// A suspension that has begun and that nobody has been told of: the operation that is awaited will
/// name it. Until then the thread keeps the task's context.
struct suspension {
    std::uint64_t ticks;
    const void* location;
    detail::resumer before;  ///< what the thread goes on with
    // Where the state of its frame says frame_suspends; else they follow from that.
    std::uint64_t task;
    const char* type;       ///< of the operation that seems to be awaited
    const char* operation;  ///< null: none yet
    std::uint32_t serial;
};

/// What a frame does for an await. They nest, where what is awaited runs inside the call that starts it.
struct awaiting {
    purpose whose;
    bool suspends;
    suspension begun;  ///< where it suspends
};

/// What a frame is in the middle of. The short way compares it as a whole.
enum frame_state : std::uint32_t {
    frame_idle = 0,
    frame_suspends = 1U << 0,        ///< a suspension has begun
    frame_suspends_plain = 1U << 1,  ///< the same, the short way: of the await that `whose` names
    frame_begins = 1U << 2,          ///< an await, of which no location or operation was seen yet
    frame_begins_nested = 1U << 3,   ///< the same, in no handler or while another is being started
    frame_outermost = 1U << 4,       ///< it stands for what runs in no handler
    frame_plain_task = 1U << 5,      ///< its task carries what the thread did before; no attributes
    frame_task = 1U << 6,            ///< times the number of tasks that run in it, one in another
};

}  // namespace coroscope::asio

namespace coroscope::detail {

/// One invocation of a handler on a thread's stack, or what runs in none. They nest. Touched by its thread alone.
struct handler_frame : asio::operation_state {
    std::uint32_t state = asio::frame_idle;
    std::uint32_t starting = 0;  ///< locations in which a nested await is being started
    handler_frame* outer;        ///< null: none, or the outermost
    asio::suspension begun;      ///< where it suspends
    asio::awaiting before;       ///< what it was before the await that begins, where that is nested

    [[nodiscard]] bool is(std::uint32_t bits) const noexcept { return (state & bits) != 0; }
    [[nodiscard]] bool suspends() const noexcept {
        return is(asio::frame_suspends | asio::frame_suspends_plain);
    }
    [[nodiscard]] bool runs_task() const noexcept { return state >= asio::frame_task; }
};

}  // namespace coroscope::detail

namespace coroscope::asio {

using frame = detail::handler_frame;

/// How the await began that a location starts.
enum class await_start : std::uint8_t {
    none,    ///< it did not: a step of a composed operation
    plain,   ///< in a handler's invocation, where nothing else is awaited
    nested,  ///< elsewhere, or while another await is being started
    other,   ///< one of these: not looked at yet
};

/// A stretch of source that starts an operation: one that a coroutine awaits, or a step of a composed
/// one, which does not count here.
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
    // Everything that was started has been seen.
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
    awaiting before_;  ///< as it was before the await; set where it is nested
};

}  // namespace coroscope::asio
