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
    const detail::thread_state& thread = detail::this_thread;
    return (thread.mark >> detail::mark_thread_bits | thread.carried >> 32) != 0;
}

/// For whom operations are created that no running task creates.
struct purpose {
    std::uint64_t task;     ///< id: they are steps of what this task awaits; 0: of none
    std::uint64_t carried;  ///< what that task carries
    std::uint32_t serial;   ///< which of its awaits
    bool initiating;        ///< the awaited operation is being started
    bool back;              ///< they carry the result of a co_spawn that has ended
    bool ready;             ///< that task was ready as soon as it suspended
};

/// The await that is being started or carried on here, if any: for its later steps that Asio does not see, because
/// another library takes them.
COROSCOPE_API purpose current_await() noexcept;

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
    std::uint64_t task;  ///< 0: there is none
    std::uint64_t ticks;
    const void* location;
    const char* type;  ///< of the operation that seems to be awaited; null: none yet
    const char* operation;
    detail::resumer before;  ///< what the thread goes on with
    std::uint32_t serial;
};

/// What a thread does for an await. They nest, where what is awaited runs inside the call that starts it.
struct awaiting {
    purpose created;
    suspension suspending;
};

/// How an await begins.
enum class await_start : std::uint8_t {
    none,    ///< it does not: a step of a composed operation
    plain,   ///< in a handler's invocation, where nothing else is awaited
    nested,  ///< elsewhere, or while another await is being started
};

/// A stretch of source that starts an operation: one that a coroutine awaits, or a step of a composed
/// one, which does not count here.
class location {
public:
    location(const char*, int, const char*) noexcept {
        if (is_active()) entered_ = enter();
    }
    ~location() {
        if (entered_ != await_start::none) leave();
    }
    location(const location&) = delete;
    location& operator=(const location&) = delete;

private:
    COROSCOPE_API COROSCOPE_NO_PLT await_start enter() noexcept;
    COROSCOPE_API COROSCOPE_NO_PLT void leave() noexcept;
    void leave_any() noexcept;

    await_start entered_ = await_start::none;
    awaiting before_;  ///< as it was before the await; set by enter() where it is nested
};

}  // namespace coroscope::asio
