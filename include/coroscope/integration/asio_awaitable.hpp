// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asio's coroutines, seen from inside: promises that derive from Asio's own and record the start,
// suspensions, resumptions and end of a coroutine. asio.hpp installs them by a specialisation of
// std::coroutine_traits for asio::awaitable with a constraint, which is preferred to Asio's own
// specialisation. The program needs no change. The promises are templates over Asio's promise, so
// this header must not include one of Asio's.
//
// One co_spawn is one task, however many awaitables call each other in it. The task is in the
// promise of Asio's co_spawn_entry_point, the coroutine below all others of that co_spawn
// (asio_entry.hpp).

#include <coroutine>
#include <cstdint>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/integration/asio_outcome.hpp>
#include <coroscope/integration/asio_task.hpp>
#include <coroscope/integration/asio_wake.hpp>

namespace coroscope::asio {

/// Whether the type is asio::awaitable<Value, Executor>, in either namespace of Asio.
template <class Operand>
concept is_asio_awaitable = requires(const Operand& operand) {
    typename Operand::value_type;
    typename Operand::executor_type;
    operand.await_ready();
};

/// The task awaits an operation. The operations that Asio creates until the start of that operation
/// belong to it.
COROSCOPE_API COROSCOPE_NO_PLT void suspend(tracked_task& suspended) noexcept;
/// The task's code runs on this thread from now on.
COROSCOPE_API COROSCOPE_NO_PLT void resume(tracked_task& resumed) noexcept;
/// The task reaches an await in the function given to co_spawn; `where`, its std::source_location,
/// names that function. Called at each await until one is in the program's own code.
COROSCOPE_API void name_task(tracked_task& named, const void* where) noexcept;
/// Returns whether the std::source_location is in one of Asio's own coroutines.
[[nodiscard]] COROSCOPE_API bool is_library_place(const void* where) noexcept;

template <class Frame>
class entry_promise;

/// The promise of an entry point with the same executor as `Frame`.
template <class Frame>
struct entry_of;
template <template <class, class> class Frame, class Value, class Executor>
struct entry_of<Frame<Value, Executor>> {
    using type = entry_promise<Frame<void, Executor>>;
};

/// An operation that is started when it is awaited, with the location of its start. Refers to the
/// operand of the co_await expression, which must live until then.
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

/// Whether the type is the awaiter that Asio's promise makes of a deferred operation.
template <class Inner>
inline constexpr bool is_deferred = false;
template <template <class, class, class> class Inner, class Signature, class Operation,
          class Executor>
inline constexpr bool is_deferred<Inner<Signature, Operation, Executor>> = true;

/// The awaiter that Asio's promise makes of an operand.
template <class Promise, class Operand>
using transformed = decltype(std::declval<Promise&>().asio_transform(std::declval<Operand>()));

/// Whether the operation awaits a group of operations, as Asio's coroutines for `&&` and `||` do.
template <class Operation>
inline constexpr bool is_group = asio::is_named_with<Operation>("parallel_group");

/// `co_await` of an awaitable: a call. The same task goes on inside it.
template <class Promise, class Inner>
class awaited_call {
public:
    template <class Operand>
    awaited_call(Promise& promise, Operand&& operand)
        : inner_(promise.asio_transform(static_cast<Operand&&>(operand))),
          promise_(__builtin_addressof(promise)) {}

    bool await_ready() const noexcept { return inner_.await_ready(); }
    void await_suspend(std::coroutine_handle<Promise> caller) {
        using asio_frame = typename Promise::asio_frame;
        inner_.await_suspend(std::coroutine_handle<asio_frame>::from_promise(caller.promise()));
    }
    decltype(auto) await_resume() {
        const typename Promise::after_call guard(*promise_);
        return asio::take_result(*promise_, inner_, guard.resumed);
    }

private:
    Inner inner_;
    Promise* promise_;
};

/// `co_await` of any other operand: an asynchronous operation, or a query of the coroutine.
template <class Promise, class Inner>
class awaited_operation {
public:
    template <class Operand>
    awaited_operation(Promise& promise, Operand&& operand)
        : inner_(promise.asio_transform(static_cast<Operand&&>(operand))),
          promise_(__builtin_addressof(promise)) {}

    bool await_ready() const noexcept { return inner_.await_ready(); }
    auto await_suspend(std::coroutine_handle<> handle) {
        if (asio::is_active()) asio::suspend(promise_->own_task());
        return inner_.await_suspend(handle);  // the call may destroy *this
    }
    decltype(auto) await_resume() {
        const bool resumed = promise_->enter();
        return asio::take_result(*promise_, inner_, resumed);
    }

private:
    Inner inner_;
    Promise* promise_;
};

/// As above, for a deferred operation. Asio's promise may keep a reference to its operand.
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
        : operand{{__builtin_addressof(awaited)}},
          operation(promise, std::move(operand::started)) {}
};

/// `co_await` of this_coro::reset_cancellation_state().
template <class Promise, class Reset>
class awaited_reset {
public:
    awaited_reset(Promise& promise, const Reset& reset)
        : reset_(reset), promise_(__builtin_addressof(promise)) {}

    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() { promise_->reset_cancellation(reset_); }

private:
    Reset reset_;
    Promise* promise_;
};

/// Derives from the promise of an awaitable, and adds no byte to it.
template <class Frame>
class promise : public Frame {
public:
    using asio_frame = Frame;

    // Inlined, because the path to name_task() in a call of its own would make each await save
    // registers.
    template <class Operand>
    [[gnu::always_inline]] auto
    await_transform(Operand&& operand,
                    std::source_location where = std::source_location::current()) {
        // An initiating function is Asio's own: the await's line is that of the coroutine above.
        if constexpr (!is_initiation<Operand>()) reach<Operand>(detail::location_address(where));
        if constexpr (is_cancellation_reset<std::remove_cvref_t<Operand>>)
            return awaited_reset<promise, std::remove_cvref_t<Operand>>(*this, operand);
        else
            return wrap(*this, static_cast<Operand&&>(operand));
    }

    template <class Reset>
    void reset_cancellation(const Reset& reset) {
        asio::reset_cancellation(*this->attached_thread_, reset, own_task().task);
    }

    template <class Operand>
    auto asio_transform(Operand&& operand) {
        return Frame::await_transform(static_cast<Operand&&>(operand));
    }

    /// An exception leaves the coroutine, to its caller or out of the task.
    void unhandled_exception() {
        if (detail::load_gate() != 0) detail::exception_leaves(own_task());
        Frame::unhandled_exception();
    }

    /// Must be called only while the coroutine runs.
    tracked_task& own_task() noexcept {
        if constexpr (requires { this->attached_thread_->entry_point(); }) {
            using entry = entry_promise<
                std::remove_pointer_t<decltype(this->attached_thread_->entry_point())>>;
            return static_cast<entry*>(this->attached_thread_->entry_point())->task_;
        } else {  // Boost 1.74 hides the lowest frame: find it
            decltype(this->caller_) lowest = this;
            while (lowest->*(&promise::caller_) != nullptr) lowest = lowest->*(&promise::caller_);
            return static_cast<typename entry_of<Frame>::type*>(lowest)->task_;
        }
    }

    /// The coroutine's code runs on this thread. Returns whether the resumption of its task was
    /// noted here.
    bool enter() noexcept {
        tracked_task& own = own_task();
        if ((own.flags & (detail::task_installed | detail::task_finished)) != 0) return false;
        if (detail::load_gate() != 0 || detail::needs_context(own)) {
            asio::resume(own);
            return true;
        }
        own.flags = untold_flags;
        return false;
    }

    struct after_call {
        explicit after_call(promise& caller) noexcept : resumed(caller.enter()) {}
        bool resumed;  ///< enter() noted a resumption
    };

protected:
    /// The task reaches a co_await expression. A query of the coroutine does not suspend, so its
    /// line is not kept. Asio's `&&` and `||` are coroutines that await a group: the line of their
    /// caller is kept.
    template <class Operand>
    void reach(const void* where) noexcept {
        tracked_task& own = own_task();
        if (own.origin == nullptr) [[unlikely]]
            asio::name_task(own, where);
        if constexpr (is_asio_awaitable<std::remove_cvref_t<Operand>>)
            own.location = where;
        else if constexpr (is_deferred<transformed<promise, Operand>>)
            if (!is_group<Operand> || !asio::is_library_place(where)) own.location = where;
    }

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

}  // namespace coroscope::asio
