// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asio's coroutines, from inside: promises that stand over Asio's own and tell when a coroutine starts,
// suspends, runs again and ends. asio.hpp puts them in place by specialising std::coroutine_traits
// for asio::awaitable with a constraint, which wins over Asio's own specialisation; the program is not
// edited. They are templates over Asio's promise, so this header needs none of Asio.
//
// One co_spawn is one task, however many awaitables call each other in it. Its task stands in the
// promise of Asio's co_spawn_entry_point, the coroutine below all others of that co_spawn.

#include <coroutine>
#include <cstdint>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/integration/asio_task.hpp>

namespace coroscope::asio {

/// Is it asio::awaitable<Value, Executor>, of whichever namespace Asio stands in?
template <class Operand>
concept is_asio_awaitable = requires(const Operand& operand) {
    typename Operand::value_type;
    typename Operand::executor_type;
    operand.await_ready();
};

/// Is it the handler of `detached`, which hands no result to anybody? Specialised where that has been declared.
template <class Handler>
inline constexpr bool is_detached = false;

/// A co_spawn is called. Its first run comes later, or inside the call.
COROSCOPE_API void spawn(tracked_task& spawned) noexcept;
/// The same of one whose result nobody gets, though it may be called while an await is started.
COROSCOPE_API void spawn_detached(tracked_task& spawned) noexcept;
/// The task awaits an operation: what Asio creates from here on until that is started is the operation's.
COROSCOPE_API COROSCOPE_NO_PLT void suspend(tracked_task& suspended) noexcept;
/// The task's code runs, on this thread, from here on.
COROSCOPE_API COROSCOPE_NO_PLT void resume(tracked_task& resumed) noexcept;
/// The function given to co_spawn has ended.
COROSCOPE_API void finish(tracked_task& finished, bool failed) noexcept;
/// The coroutine is gone. One that had not finished was destroyed.
COROSCOPE_API void destroy(tracked_task& gone) noexcept;

template <class Frame>
class entry_promise;

/// The promise of an entry point of the same executor as `Frame`'s.
template <class Frame>
struct entry_of;
template <template <class, class> class Frame, class Value, class Executor>
struct entry_of<Frame<Value, Executor>> {
    using type = entry_promise<Frame<void, Executor>>;
};

/// An operation that is started when it is awaited, and the stretch in which that happens. Refers to the
/// operand of the co_await expression.
template <class Operation>
struct started_operation {
    Operation* operation;

    template <class Token>
    auto
    operator()(Token&& token) && -> decltype(std::move(*operation)(std::forward<Token>(token))) {
        const location start(nullptr, 0, nullptr);
        return std::move(*operation)(std::forward<Token>(token));
    }
};

/// Is it what Asio's promise makes of an operation that was deferred until it is awaited?
template <class Inner>
inline constexpr bool is_deferred = false;
template <template <class, class, class> class Inner, class Signature, class Operation,
          class Executor>
inline constexpr bool is_deferred<Inner<Signature, Operation, Executor>> = true;

/// `co_await` of an awaitable: a call. The same task goes on inside.
template <class Promise, class Inner>
class awaited_call {
public:
    template <class Operand>
    awaited_call(Promise& promise, Operand&& operand)
        : inner_(promise.asio_transform(static_cast<Operand&&>(operand))), promise_(&promise) {}

    bool await_ready() const noexcept { return inner_.await_ready(); }
    void await_suspend(std::coroutine_handle<Promise> caller) {
        using asio_frame = typename Promise::asio_frame;
        inner_.await_suspend(std::coroutine_handle<asio_frame>::from_promise(caller.promise()));
    }
    decltype(auto) await_resume() {
        const typename Promise::after_call guard(*promise_);
        return inner_.await_resume();
    }

private:
    Inner inner_;
    Promise* promise_;
};

/// `co_await` of anything else: an asynchronous operation, or a question about the coroutine.
template <class Promise, class Inner>
class awaited_operation {
public:
    template <class Operand>
    awaited_operation(Promise& promise, Operand&& operand)
        : inner_(promise.asio_transform(static_cast<Operand&&>(operand))), promise_(&promise) {}

    bool await_ready() const noexcept { return inner_.await_ready(); }
    auto await_suspend(std::coroutine_handle<> handle) {
        if (is_active()) suspend(promise_->own_task());
        return inner_.await_suspend(handle);  // nothing of *this after it
    }
    decltype(auto) await_resume() {
        promise_->enter();
        return inner_.await_resume();
    }

private:
    Inner inner_;
    Promise* promise_;
};

/// The same for an operation that was deferred until it is awaited; Asio's promise may keep a reference
/// to what it is given.
template <class Operation>
struct deferred_operand {
    started_operation<Operation> started;
};
template <class Promise, class Operation>
class awaited_deferred
    : private deferred_operand<Operation>,
      public awaited_operation<Promise, decltype(std::declval<Promise&>().asio_transform(
                                            std::declval<started_operation<Operation>>()))> {
    using operand = deferred_operand<Operation>;
    using operation =
        awaited_operation<Promise, decltype(std::declval<Promise&>().asio_transform(
                                       std::declval<started_operation<Operation>>()))>;

public:
    awaited_deferred(Promise& promise, Operation& awaited)
        : operand{{&awaited}}, operation(promise, std::move(operand::started)) {}
};

/// Over the promise of an awaitable. Adds no byte to it.
template <class Frame>
class promise : public Frame {
public:
    using asio_frame = Frame;

    template <class Operand>
    auto await_transform(Operand&& operand,
                         std::source_location where = std::source_location::current()) {
        // An initiating function is Asio's own: the line that counts is that of the coroutine above.
        if constexpr (!is_initiation<Operand>())
            own_task().location = detail::location_address(where);
        return wrap(*this, static_cast<Operand&&>(operand));
    }

    template <class Operand>
    auto asio_transform(Operand&& operand) {
        return Frame::await_transform(static_cast<Operand&&>(operand));
    }

    /// An exception leaves the coroutine, on its way to whoever called it, or out of the task.
    void unhandled_exception() {
        if (detail::load_gate() != 0) detail::exception_leaves(own_task());
        Frame::unhandled_exception();
    }

    /// Only while the coroutine runs.
    tracked_task& own_task() noexcept {
        if constexpr (requires { this->attached_thread_->entry_point(); }) {
            using entry = entry_promise<
                std::remove_pointer_t<decltype(this->attached_thread_->entry_point())>>;
            return static_cast<entry*>(this->attached_thread_->entry_point())->task_;
        } else {  // Boost 1.74 keeps the lowest frame to itself: walk there
            decltype(this->caller_) lowest = this;
            while (lowest->*(&promise::caller_) != nullptr) lowest = lowest->*(&promise::caller_);
            return static_cast<typename entry_of<Frame>::type*>(lowest)->task_;
        }
    }

    /// The coroutine's code runs on this thread.
    void enter() noexcept {
        tracked_task& own = own_task();
        if ((own.flags & (detail::task_installed | detail::task_finished)) != 0) return;
        if (detail::load_gate() != 0 || detail::needs_context(own))
            resume(own);
        else
            detail::set_flags(own, detail::task_started);
    }

    struct after_call {
        explicit after_call(promise& caller) noexcept { caller.enter(); }
    };

protected:
    template <class Operand>
    static consteval bool is_initiation() {
        using base_pointer = decltype(std::declval<promise&>().caller_);
        return !is_asio_awaitable<std::remove_cvref_t<Operand>> &&
               std::is_invocable_v<std::remove_cvref_t<Operand>&, base_pointer>;
    }

    template <class Promise, class Operand>
    static auto wrap(Promise& self, Operand&& operand) {
        using inner = decltype(self.asio_transform(static_cast<Operand&&>(operand)));
        if constexpr (is_asio_awaitable<std::remove_cvref_t<Operand>>)
            return awaited_call<Promise, inner>(self, static_cast<Operand&&>(operand));
        else if constexpr (is_deferred<inner>)
            return awaited_deferred<Promise, std::remove_reference_t<Operand>>(self, operand);
        else
            return awaited_operation<Promise, inner>(self, static_cast<Operand&&>(operand));
    }
};

/// Over the promise of co_spawn_entry_point. It awaits, one after another: its turn on the executor,
/// the function given to co_spawn, and sometimes the executor again before it hands over the result.
template <class Frame>
class entry_promise : public promise<Frame> {
public:
    entry_promise() noexcept {
        if (is_active()) spawn(task_);
    }
    /// By what co_spawn_entry_point() is called with.
    template <class Awaitable, class Executor, class Function, class Handler>
    entry_promise(Awaitable*, const Executor&, const Function&, const Handler&) noexcept {
        if (is_active()) is_detached<Handler> ? spawn_detached(task_) : spawn(task_);
    }
    ~entry_promise() {
        if (task_.task != 0) destroy(task_);
    }
    entry_promise(const entry_promise&) = delete;
    entry_promise& operator=(const entry_promise&) = delete;

    template <class Operand>
    auto await_transform(Operand&& operand) {
        return this->wrap(*this, static_cast<Operand&&>(operand));
    }

    struct after_call {
        explicit after_call(entry_promise& entry) noexcept : entry_(entry) {
            // The second has been entered by its own coroutines, unless it is nothing but an operation of Asio's.
            if (++entry.calls_ <= 2) entry.enter();
            if (ends_task()) exceptions_ = std::uncaught_exceptions();
        }
        ~after_call() {
            if (ends_task()) finish(entry_.task_, std::uncaught_exceptions() > exceptions_);
        }
        after_call(const after_call&) = delete;
        after_call& operator=(const after_call&) = delete;

    private:
        [[nodiscard]] bool ends_task() const noexcept {
            return entry_.calls_ == 2 && entry_.task_.task != 0;
        }

        entry_promise& entry_;
        int exceptions_ = 0;
    };

private:
    template <class>
    friend class promise;

    tracked_task task_;
    int calls_ = 0;  ///< that have come back
};

}  // namespace coroscope::asio
