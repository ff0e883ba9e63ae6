// SPDX-License-Identifier: Apache-2.0
#pragma once

// The coroutines of the await and task rows. One source, compiled twice: with the profiler
// (COROSCOPE_ENABLED=1, the subjects) and without it (0, the floors), each in a namespace of its
// own. A floor reads the clock at each moment that must be distinguished (`Reads`); a plain run
// never does.

#include <array>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include <coroscope/instrumented.hpp>
#include <coroscope/task.hpp>

#include "harness.hpp"

namespace bench {
inline namespace COROSCOPE_ABI {

template <bool Reads>
[[gnu::always_inline]] inline void moment() {
    if constexpr (Reads) keep(counter_ticks());
}

// ---- a step: suspend into a ready queue, resume from it -------------------------------------

class ready_queue {
public:
    void push(std::coroutine_handle<> ready) { slots_[back_++ % slots_.size()] = ready; }
    bool empty() const { return front_ == back_; }
    std::coroutine_handle<> pop() { return slots_[front_++ % slots_.size()]; }

private:
    std::array<std::coroutine_handle<>, 16> slots_{};
    unsigned front_ = 0;
    unsigned back_ = 0;
};

template <bool Reads>
class yield_to {
public:
    explicit yield_to(ready_queue& queue) : queue_(&queue) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const {
        moment<Reads>();
        queue_->push(waiter);
    }
    void await_resume() const noexcept { moment<Reads>(); }

private:
    ready_queue* queue_;
};

/// A coroutine that starts at its call and destroys itself at its end.
struct detached {
    struct promise {
        detached get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    using promise_type = coroscope::instrumented<promise>;
};

template <bool Reads>
detached step(ready_queue& queue, std::uint64_t times) {
    for (std::uint64_t each = 0; each < times; ++each) co_await yield_to<Reads>(queue);
}

/// Measures suspensions and resumptions of a few coroutines, which take turns.
template <bool Reads>
std::uint64_t steps(std::uint64_t operations) {
    constexpr unsigned coroutines = 4;
    ready_queue queue;
    for (unsigned each = 0; each < coroutines; ++each) step<Reads>(queue, operations / coroutines);
    return timed([&] {
        while (!queue.empty()) queue.pop().resume();
    });
}

/// Runs a task that never waits for anything else to its end.
inline detached run_into(std::uint64_t& result, coroscope::task<std::uint64_t> work) {
    result = co_await std::move(work);
}
inline std::uint64_t run(coroscope::task<std::uint64_t> work) {
    std::uint64_t result = 0;
    run_into(result, std::move(work));
    return result;
}

// ---- a step with a hand-over from one coroutine to another ----------------------------------

template <bool Reads>
coroscope::task<std::uint64_t> child(std::uint64_t value) {
    moment<Reads>();
    std::uint64_t result = value + 1;
    clobber();
    moment<Reads>();
    co_return result;
}

// Only the hand-overs are timed: the children are made before and destroyed after.
template <bool Reads>
coroscope::task<std::uint64_t> await_each(std::uint64_t times) {
    std::array<coroscope::task<std::uint64_t>, 64> children;
    std::uint64_t ticks = 0;
    for (std::uint64_t done = 0; done < times; done += children.size()) {
        for (auto& each : children) each = child<Reads>(done);
        const std::uint64_t start = counter_ticks();
        for (auto& each : children) {
            moment<Reads>();
            keep(co_await std::move(each));
            moment<Reads>();
        }
        ticks += counter_ticks() - start;
    }
    co_return ticks;
}

/// An await of a child is two operations: the awaiter suspends as the child resumes, and back.
template <bool Reads>
std::uint64_t hand_overs(std::uint64_t operations) {
    return run(await_each<Reads>(operations / 2));
}

// ---- a task's life --------------------------------------------------------------------------

template <bool Reads>
detached eager(std::uint64_t& count) {
    moment<Reads>();
    ++count;
    moment<Reads>();
    co_return;
}

template <bool Reads>
std::uint64_t eager_tasks(std::uint64_t operations) {
    std::uint64_t count = 0;
    return timed([&] {
        for (std::uint64_t each = 0; each < operations; ++each) eager<Reads>(count);
    });
}

template <bool Reads>
coroscope::task<std::uint64_t> await_new(std::uint64_t times) {
    const std::uint64_t start = counter_ticks();
    for (std::uint64_t each = 0; each < times; ++each) {
        moment<Reads>();
        keep(co_await child<Reads>(each));
    }
    co_return counter_ticks() - start;
}

/// Created, awaited, destroyed.
template <bool Reads>
std::uint64_t lazy_tasks(std::uint64_t operations) {
    return run(await_new<Reads>(operations));
}

// ---- a task's life, of a lazy type without support for the profiler
// ------------------------------

class foreign_task {
public:
    class promise_type {
    public:
        foreign_task get_return_object() noexcept {
            return foreign_task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        auto final_suspend() const noexcept { return to_awaiter(); }
        void return_value(std::uint64_t value) noexcept { value_ = value; }
        void unhandled_exception() const noexcept { std::terminate(); }

    private:
        friend foreign_task;
        struct to_awaiter {
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<>
            await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
                return ended.promise().awaiter_;
            }
            void await_resume() const noexcept {}
        };

        std::coroutine_handle<> awaiter_;
        std::uint64_t value_ = 0;
    };

    foreign_task(foreign_task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    foreign_task& operator=(foreign_task&&) = delete;
    ~foreign_task() {
        if (frame_) frame_.destroy();
    }

    auto operator co_await() const noexcept {
        struct awaiter {
            std::coroutine_handle<promise_type> frame;
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) const noexcept {
                frame.promise().awaiter_ = waiter;
                return frame;
            }
            std::uint64_t await_resume() const noexcept { return frame.promise().value_; }
        };
        return awaiter{frame_};
    }

private:
    explicit foreign_task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

}  // namespace COROSCOPE_ABI
}  // namespace bench

COROSCOPE_INSTRUMENT_COROUTINE(bench::foreign_task);

namespace bench {
inline namespace COROSCOPE_ABI {

template <bool Reads>
foreign_task foreign_child(std::uint64_t value) {
    moment<Reads>();
    std::uint64_t result = value + 1;
    clobber();
    moment<Reads>();
    co_return result;
}

template <bool Reads>
foreign_task await_new_foreign(std::uint64_t times) {
    const std::uint64_t start = counter_ticks();
    for (std::uint64_t each = 0; each < times; ++each) {
        moment<Reads>();
        const foreign_task made = foreign_child<Reads>(each);
        moment<Reads>();
        keep(co_await made);
        moment<Reads>();
    }
    co_return counter_ticks() - start;
}

inline detached run_foreign_into(std::uint64_t& result, foreign_task work) {
    result = co_await work;
}

/// Created, awaited, destroyed.
template <bool Reads>
std::uint64_t foreign_tasks(std::uint64_t operations) {
    std::uint64_t result = 0;
    run_foreign_into(result, await_new_foreign<Reads>(operations));
    return result;
}

}  // namespace COROSCOPE_ABI
}  // namespace bench
