// SPDX-License-Identifier: Apache-2.0
#pragma once

// The promise of Asio's co_spawn_entry_point, which is the outermost coroutine of a co_spawn. The
// promise holds the task of that co_spawn. asio.hpp installs it.
//
// The entry point awaits these, in order:
//
//   its turn on the executor     an awaitable; since Asio 1.28.1 a deferred operation
//   the function                 an awaitable: the function given to co_spawn
//   the executor once more       like its turn, if the function ended inside the call of co_spawn
//
// In between it queries the coroutine. The function is therefore the first awaitable after the
// first turn. If an entry point ends without such an awaitable, this version of Asio works in an
// unknown way, and each session reports it.

#include <cstdint>
#include <exception>
#include <type_traits>

#include <coroscope/detail/export.hpp>
#include <coroscope/integration/asio_awaitable.hpp>
#include <coroscope/integration/asio_wake.hpp>

namespace coroscope::asio {

/// Whether the handler is that of `detached`, which drops the result. asio.hpp specialises it for
/// that handler.
template <class Handler>
inline constexpr bool is_detached = false;

/// Must be called when a co_spawn is called. Its first run comes later, or inside the call.
COROSCOPE_API void spawn(tracked_task& spawned) noexcept;
/// As spawn(), for a co_spawn whose result is dropped: it is not awaited, even if it is called
/// while an await starts.
COROSCOPE_API void spawn_detached(tracked_task& spawned) noexcept;
/// Must be called when the function given to co_spawn has ended.
COROSCOPE_API void finish(tracked_task& finished, bool failed) noexcept;
/// Must be called when the entry point ends, but its task has run and not finished: this version of
/// Asio uses an unknown protocol. Ends the task.
COROSCOPE_API void finish_unseen(tracked_task& finished, bool failed) noexcept;
/// Must be called when the coroutine is destroyed. A task that has not finished ends here.
COROSCOPE_API void destroy(tracked_task& gone) noexcept;

/// The progress of an entry point.
enum class entry_stage : std::uint8_t {
    begun,     ///< it has awaited nothing yet
    turn,      ///< it awaits its first turn, or has it
    function,  ///< it awaits the function
    over,      ///< the function has ended
};

/// Derives from the promise of co_spawn_entry_point.
template <class Frame>
class entry_promise : public promise<Frame> {
public:
    entry_promise() noexcept {
        if (asio::is_active()) asio::spawn(task_);
    }
    /// For the arguments of co_spawn_entry_point() before Asio 1.28.1.
    template <class Awaitable, class Executor, class Function, class Handler>
    entry_promise(Awaitable*, const Executor&, const Function&, const Handler&) noexcept {
        spawn_for<Handler>();
    }
    /// For the arguments since Asio 1.28.1.
    template <class Awaitable, template <class, class, class, class...> class State, class Handler,
              class Executor, class Function, class... More>
    entry_promise(Awaitable*, const State<Handler, Executor, Function, More...>&) noexcept {
        spawn_for<Handler>();
    }
    ~entry_promise() {
        if (task_.task != 0) asio::destroy(task_);
    }
    entry_promise(const entry_promise&) = delete;
    entry_promise& operator=(const entry_promise&) = delete;

    template <class Operand>
    auto await_transform(Operand&& operand) {
        constexpr bool awaitable = is_asio_awaitable<std::remove_cvref_t<Operand>>;
        using inner = transformed<entry_promise, Operand>;
        if (stage_ == entry_stage::begun) {
            if constexpr (awaitable || is_deferred<inner>) begin_turn();
        } else if (stage_ == entry_stage::turn) {
            if constexpr (awaitable) stage_ = entry_stage::function;
        }
        return this->wrap(*this, static_cast<Operand&&>(operand));
    }

    void return_void() {
        if (ends_unseen()) asio::finish_unseen(task_, false);
        Frame::return_void();
    }

    void unhandled_exception() {
        if (ends_unseen()) asio::finish_unseen(task_, true);
        promise<Frame>::unhandled_exception();
    }

    /// Surrounds the return from an awaited call of the entry point: its turn, or the function.
    struct after_call {
        explicit after_call(entry_promise& entry) noexcept : entry_(entry) {
            // The function's own coroutines have entered the task, unless the function is only an
            // operation of Asio.
            if (entry.stage_ != entry_stage::over) resumed = entry.enter();
            if (ends_task()) exceptions_ = std::uncaught_exceptions();
        }
        ~after_call() {
            if (entry_.stage_ != entry_stage::function) return;
            if (ends_task()) asio::finish(entry_.task_, std::uncaught_exceptions() > exceptions_);
            entry_.stage_ = entry_stage::over;
        }
        after_call(const after_call&) = delete;
        after_call& operator=(const after_call&) = delete;

        bool resumed = false;  ///< enter() noted a resumption

    private:
        [[nodiscard]] bool ends_task() const noexcept {
            return entry_.stage_ == entry_stage::function && entry_.task_.task != 0;
        }

        entry_promise& entry_;
        int exceptions_ = 0;
    };

private:
    template <class>
    friend class promise;

    template <class Handler>
    void spawn_for() noexcept {
        if (asio::is_active())
            is_detached<Handler> ? asio::spawn_detached(task_) : asio::spawn(task_);
    }

    // The first co_await is inside the call of co_spawn, so no signal has been given yet. Boost
    // 1.74 has no cancellation slots.
    void begin_turn() {
        stage_ = entry_stage::turn;
        if constexpr (requires { this->attached_thread_->get_cancellation_slot(); })
            if (task_.task != 0 && this->attached_thread_->get_cancellation_slot().is_connected())
                asio::reset_cancellation(*this->attached_thread_, terminal_filter{}, task_.task);
    }

    [[nodiscard]] bool ends_unseen() const noexcept {
        return stage_ != entry_stage::over && task_.is(detail::task_started) &&
               !task_.is(detail::task_finished);
    }

    tracked_task task_;
    entry_stage stage_ = entry_stage::begun;
};

}  // namespace coroscope::asio
