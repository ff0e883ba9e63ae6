// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutine types like those of other libraries. Each has three variants: `plain`, `declared` (its
// promise_type names coroscope::instrumented) and `outside` (COROSCOPE_INSTRUMENT_COROUTINE…).

#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <coroscope/coroscope.hpp>

namespace foreign {

struct plain {};
struct declared {};
struct outside {};

template <class Way, class Promise>
struct promise_in {
    using type = Promise;
};
template <class Promise>
struct promise_in<declared, Promise> {
    using type = coroscope::instrumented<Promise>;
};

// --- manual<Way>: lazily started, suspended at its end, resumed by hand -------------------------------

template <class Way>
class manual {
public:
    struct promise {
        manual get_return_object() noexcept {
            return manual(std::coroutine_handle<promise>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void unhandled_exception() noexcept { error = std::current_exception(); }
        void return_void() const noexcept {}
        std::exception_ptr error;
    };
    using promise_type = typename promise_in<Way, promise>::type;

    manual(manual&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    manual& operator=(manual&&) = delete;
    ~manual() {
        if (handle) handle.destroy();
    }

    manual& resume() {
        handle.resume();
        return *this;
    }
    bool done() const { return handle.done(); }
    void destroy() { std::exchange(handle, nullptr).destroy(); }
    std::exception_ptr error() const { return handle.promise().error; }

    std::coroutine_handle<promise> handle;

private:
    explicit manual(std::coroutine_handle<promise> frame) noexcept : handle(frame) {}
};

// --- eager<T, Way>: starts at once, frees its own frame, hands over through a shared state ------------

template <class T>
struct shared_result {
    std::mutex mutex;
    std::optional<T> value;
    std::exception_ptr error;
    std::coroutine_handle<> waiter;

    bool done() const { return value.has_value() || error != nullptr; }
    // The waiter runs inside the call that completes the result.
    void complete() {
        std::coroutine_handle<> next;
        {
            const std::lock_guard lock(mutex);
            next = std::exchange(waiter, nullptr);
        }
        if (next) next.resume();
    }
};

template <class T, class Way>
class eager {
public:
    struct promise {
        eager get_return_object() { return eager(state); }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void unhandled_exception() {
            {
                const std::lock_guard lock(state->mutex);
                state->error = std::current_exception();
            }
            state->complete();
        }
        template <class Value>
        void return_value(Value&& value) {
            {
                const std::lock_guard lock(state->mutex);
                state->value.emplace(std::forward<Value>(value));
            }
            state->complete();
        }
        std::shared_ptr<shared_result<T>> state = std::make_shared<shared_result<T>>();
    };
    using promise_type = typename promise_in<Way, promise>::type;

    bool done() const {
        const std::lock_guard lock(state_->mutex);
        return state_->done();
    }

    bool await_ready() const { return done(); }
    bool await_suspend(std::coroutine_handle<> waiter) const {
        const std::lock_guard lock(state_->mutex);
        if (state_->done()) return false;
        state_->waiter = waiter;
        return true;
    }
    T await_resume() const {
        if (state_->error) std::rethrow_exception(state_->error);
        return std::move(*state_->value);
    }

private:
    explicit eager(std::shared_ptr<shared_result<T>> state) : state_(std::move(state)) {}
    std::shared_ptr<shared_result<T>> state_;
};

// --- lazy<T, Way>: final promise, own allocation, own await_transform, symmetric transfer -------------

struct frame_counts {
    std::size_t live = 0;
    std::size_t last_bytes = 0;
};
inline frame_counts lazy_frames;

/// `co_await foreign::own_depth` asks the promise itself.
inline constexpr struct own_depth_t {
} own_depth;

template <class T>
class lazy_promise;

template <class T, class Way>
class lazy {
public:
    using promise_type = typename promise_in<Way, lazy_promise<T>>::type;
    using handle_type = std::coroutine_handle<lazy_promise<T>>;

    lazy(handle_type frame) noexcept : handle_(frame) {}
    lazy(lazy&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    lazy& operator=(lazy&&) = delete;
    ~lazy() {
        if (handle_) handle_.destroy();
    }

    auto operator co_await() && noexcept {
        struct awaiter {
            handle_type child;
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) const noexcept {
                child.promise().parent = parent;
                return child;
            }
            T await_resume() const { return child.promise().take(); }
        };
        return awaiter{handle_};
    }

    /// Runs the coroutine to its first suspension outside of its children.
    void start() { handle_.resume(); }
    bool done() const { return handle_.done(); }
    T take() { return handle_.promise().take(); }

private:
    handle_type handle_;
};

template <class T>
class lazy_promise final {
public:
    static void* operator new(std::size_t bytes) {
        ++lazy_frames.live;
        lazy_frames.last_bytes = bytes;
        return std::malloc(bytes);
    }
    // At -Og g++ inlines only this function, and believes that the frame comes from another
    // operator new.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
    static void operator delete(void* frame) noexcept {
        --lazy_frames.live;
        std::free(frame);
    }
#pragma GCC diagnostic pop

    auto get_return_object() noexcept {
        return std::coroutine_handle<lazy_promise>::from_promise(*this);
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    struct to_parent {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<>
        await_suspend(std::coroutine_handle<lazy_promise> self) const noexcept {
            return self.promise().parent;
        }
        void await_resume() const noexcept {}
    };
    to_parent final_suspend() const noexcept { return {}; }
    void unhandled_exception() { result.template emplace<2>(std::current_exception()); }
    template <class Value>
    void return_value(Value&& value) {
        result.template emplace<1>(std::forward<Value>(value));
    }

    // Answers a known awaitable itself and passes others through, like libraries that count or
    // cancel.
    auto await_transform(own_depth_t) const noexcept {
        struct answer {
            int depth;
            bool await_ready() const noexcept { return true; }
            void await_suspend(std::coroutine_handle<>) const noexcept {}
            int await_resume() const noexcept { return depth; }
        };
        return answer{awaits};
    }
    template <class Awaitable>
        requires(!std::is_same_v<std::remove_cvref_t<Awaitable>, own_depth_t>)
    Awaitable&& await_transform(Awaitable&& awaitable) noexcept {
        ++awaits;
        return static_cast<Awaitable&&>(awaitable);
    }

    T take() {
        if (result.index() == 2) std::rethrow_exception(std::get<2>(result));
        return std::move(std::get<1>(result));
    }

    std::coroutine_handle<> parent = std::noop_coroutine();
    std::variant<std::monostate, T, std::exception_ptr> result;
    int awaits = 0;
};

// --- generator<T, Way>: yields values, refuses co_await, lets exceptions through ----------------------

template <class T, class Way>
class generator {
public:
    struct promise {
        generator get_return_object() noexcept {
            return generator(std::coroutine_handle<promise>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        std::suspend_always yield_value(const T& value) {
            current = value;
            return {};
        }
        void await_transform() = delete;
        void return_void() const noexcept {}
        void unhandled_exception() { throw; }
        T current{};
    };
    using promise_type = typename promise_in<Way, promise>::type;

    generator(generator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    generator& operator=(generator&&) = delete;
    ~generator() {
        if (handle_) handle_.destroy();
    }

    bool next() {
        handle_.resume();
        return !handle_.done();
    }
    const T& value() const { return handle_.promise().current; }

private:
    explicit generator(std::coroutine_handle<promise> frame) noexcept : handle_(frame) {}
    std::coroutine_handle<promise> handle_;
};

// --- fire_and_forget: not a template -----------------------------------------------------------------

struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const { std::terminate(); }
    };
};

}  // namespace foreign

COROSCOPE_INSTRUMENT_COROUTINE(foreign::fire_and_forget);
COROSCOPE_INSTRUMENT_COROUTINE(foreign::manual<foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::eager<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::lazy<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::generator<T, foreign::outside>);
