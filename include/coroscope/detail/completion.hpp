// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state that the producer and the consumers of one of our futures share in addition to the
// standard library's shared state. It has two lists of callbacks: one runs just before the future
// becomes ready, the other right after. Thread-safe.

#include <coroutine>
#include <cstdint>

#include <coroscope/detail/callback_list.hpp>
#include <coroscope/detail/counted.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/resource.hpp>

namespace coroscope::detail {

class completion {
public:
    completion() noexcept = default;
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;
    /// Abandons a result that was never produced (a deferred call that no thread waited for).
    ~completion() {
        before.close();
        after.close();
    }

    callback_list before;  ///< ends of ranges
    /// The awaiting coroutines. A producer must close this list by try_close(), which does not wait
    /// for running callbacks: a callback may wait for the thread that closes the list a second
    /// time, for example for the destructor of the promise.
    callback_list after;
    completion* next_at_exit = nullptr;
    /// The threads that wait for the result. The producer releases it.
    resource_state result{nullptr, 1, resource_kind::future, true};

    /// For the producer, just before it makes the future ready: ends the ranges, and notes the
    /// producer if a thread waits. Later calls have no effect, such as that of a promise that is
    /// destroyed after it was fulfilled.
    void close_before() noexcept {
        if (before.close()) detail::clear_holder(result);
    }

    void retain() noexcept { __atomic_fetch_add(&holders_, 1U, __ATOMIC_RELAXED); }
    void release() noexcept {
        if (__atomic_sub_fetch(&holders_, 1U, __ATOMIC_ACQ_REL) == 0)
            delete this;  // pairs with itself
    }

private:
    std::uint32_t holders_ = 1;
};
using completion_ptr = counted_ptr<completion>;

/// Closes `after` at the exit of this thread, after its thread-local objects are destroyed and the
/// standard library has made its results ready.
COROSCOPE_API void close_at_thread_exit(completion_ptr completed) noexcept;

/// Closes the list `before`, calls `produce()`, which must make the state ready, and closes the
/// list `after`. If produce() throws, the state is not ready, and awaiters go on waiting.
template <class Produce>
void complete(const completion_ptr& completed, Produce&& produce) {
    // Holds a reference of its own, because a consumer may destroy the producer as soon as the
    // state is ready.
    const completion_ptr held = completed;
    if (held) held->close_before();
    produce();
    if (held) held->after.try_close();
}

/// Runs the end callbacks when a producer's function has returned or thrown.
class producing {
public:
    explicit producing(completion& of) noexcept : of_(&of) {}
    producing(const producing&) = delete;
    producing& operator=(const producing&) = delete;
    ~producing() { of_->close_before(); }

private:
    completion* of_;
};

/// Begins the wait of a thread for the result, if a session records on the thread. The wait must be
/// ended by end_resource_wait(), as one that shares the resource.
COROSCOPE_API begun_resource_wait begin_result_wait(completion& of) noexcept;

/// Resumes the coroutine on this thread at once, so the wake and the resume are one moment.
COROSCOPE_API void hand_over_to(void* waiter);

/// A coroutine that waits for a completion, or waited until its frame was destroyed.
class waiting_coroutine final : public callback {
public:
    explicit waiting_coroutine(std::coroutine_handle<> waiter) noexcept
        : callback(call), waiter_(waiter.address()) {}

    /// Makes call() do nothing: the coroutine continues without it, or was destroyed.
    void forget() noexcept {
        __atomic_store_n(&waiter_, nullptr, __ATOMIC_RELAXED);
        drop();
    }

private:
    COROSCOPE_API static void call(callback& self) noexcept;
    void drop() noexcept {
        if (__atomic_sub_fetch(&holders_, 1U, __ATOMIC_ACQ_REL) == 0)
            delete this;  // pairs with itself
    }

    void* waiter_;
    std::uint32_t holders_ = 2;  ///< the awaiter and the list
};

}  // namespace coroscope::detail
