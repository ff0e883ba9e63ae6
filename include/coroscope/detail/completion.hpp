// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the producer and the consumers of one of our futures share beside the standard library's state: who
// is to be told just before that becomes ready, and who right after. Safe from any thread.

#include <coroutine>
#include <cstdint>

#include <coroscope/detail/callback_list.hpp>
#include <coroscope/detail/counted.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

class completion {
public:
    completion() noexcept = default;
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;
    /// What was never produced (a deferred call that nobody waited for) is abandoned here.
    ~completion() {
        before.close();
        after.close();
    }

    callback_list before;  ///< ends of ranges
    /// Coroutines that await. Only tried to be closed: they may wait for whoever does it second, such as the promise that
    /// is destroyed while they run.
    callback_list after;
    completion* next_at_exit = nullptr;

    friend void retain(completion& self) noexcept {
        __atomic_fetch_add(&self.holders_, 1U, __ATOMIC_RELAXED);
    }
    friend void release(completion& self) noexcept {
        if (__atomic_sub_fetch(&self.holders_, 1U, __ATOMIC_ACQ_REL) == 0)
            delete &self;  // pairs with itself
    }

private:
    std::uint32_t holders_ = 1;
};
using completion_ptr = counted_ptr<completion>;

/// Closes `after` when this thread's thread-local objects are gone and the standard library has made
/// ready what was to be ready at the thread's exit.
COROSCOPE_API void close_at_thread_exit(completion_ptr completed) noexcept;

/// Runs `produce()`, which makes the state ready, between the two lists. Where it throws, the state is not
/// ready, and who awaits it goes on waiting.
template <class Produce>
void complete(const completion_ptr& completed, Produce&& produce) {
    // A copy: a consumer may destroy the producer as soon as it is ready.
    const completion_ptr held = completed;
    if (held) held->before.close();
    produce();
    if (held) held->after.try_close();
}

/// Runs the end callbacks when a producer's function has made its result, or thrown.
class producing {
public:
    explicit producing(completion& of) noexcept : of_(&of) {}
    producing(const producing&) = delete;
    producing& operator=(const producing&) = delete;
    ~producing() { of_->before.close(); }

private:
    completion* of_;
};

/// Resumes the coroutine on this thread, as a hand-over: its wake is its resume.
COROSCOPE_API void hand_over_to(void* waiter);

/// A coroutine that waits for a completion, or did until its frame was destroyed.
class waiting_coroutine final : public callback {
public:
    explicit waiting_coroutine(std::coroutine_handle<> waiter) noexcept
        : callback(call), waiter_(waiter.address()) {}

    /// The coroutine goes on otherwise, or never.
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
