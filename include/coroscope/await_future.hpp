// SPDX-License-Identifier: Apache-2.0
#pragma once

// co_await await_future(std::move(future)): awaits a future of another library, from any coroutine.
// The thread that completes the future resumes the coroutine at once, so the wake and the resume
// are one moment. The await returns the value, or throws the exception or cancellation. A coroutine
// may be destroyed while it awaits.
//
// The futures of future.hpp and of integration/ can be awaited without this function. Another type
// needs an adaptor with these functions:
//
//   template <class T>
//   struct coroscope::future_adaptor<their::future<T>> {
//       static bool is_ready(const their::future<T>& future);
//       /// Calls `done(future)` when the future is complete.
//       template <class Done>
//       static void deliver(their::future<T>&& future, Done done);
//   };

#include <coroutine>
#include <new>

#include <coroscope/detail/completion.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/future_adaptor.hpp>

namespace coroscope {

/// Whether a future of this type can be awaited through its adaptor.
template <class Future>
concept deliverable_future = requires(Future&& future, void (*done)(Future)) {
    static_cast<bool>(future_adaptor<Future>::is_ready(future));
    future_adaptor<Future>::deliver(detail::moved(future), done);
};

namespace detail {

/// The place of a completed future, for the coroutine that awaits it. The future need not be
/// default constructible.
template <class Future>
class future_slot {
public:
    future_slot() noexcept {}
    future_slot(const future_slot&) = delete;
    future_slot& operator=(const future_slot&) = delete;
    ~future_slot() {
        if (is_full_) done.~Future();
    }

    void put(Future&& completed) {
        ::new (static_cast<void*>(__builtin_addressof(done))) Future(detail::moved(completed));
        is_full_ = true;
        full_.close();
    }
    /// Resumes the coroutine when the slot is full.
    void resume_when_full(waiting_coroutine& waiting) noexcept {
        static_cast<void>(full_.add(waiting));
    }
    Future& future() noexcept { return done; }

    void retain() noexcept { __atomic_fetch_add(&holders_, 1U, __ATOMIC_RELAXED); }
    void release() noexcept {
        if (__atomic_sub_fetch(&holders_, 1U, __ATOMIC_ACQ_REL) != 0) return;  // pairs with itself
        full_.close();
        delete this;
    }

private:
    callback_list full_;
    union {
        Future done;
    };
    bool is_full_ = false;
    unsigned holders_ = 1;
};

template <class Future>
class delivered_awaiter {
    using slot_ptr = counted_ptr<future_slot<Future>>;

public:
    explicit delivered_awaiter(Future&& awaited) : future_(detail::moved(awaited)) {}
    delivered_awaiter(const delivered_awaiter&) = delete;
    delivered_awaiter& operator=(const delivered_awaiter&) = delete;
    ~delivered_awaiter() {
        if (waiting_ != nullptr) waiting_->forget();
    }

    bool await_ready() const { return future_adaptor<Future>::is_ready(future_); }

    void await_suspend(std::coroutine_handle<> waiter) {
        const slot_ptr slot(new future_slot<Future>);
        slot_ = slot;
        waiting_ = new waiting_coroutine(waiter);
        slot->resume_when_full(*waiting_);
        Future taken = detail::moved(future_);
        // The coroutine may run on another thread, and destroy this awaiter, before the call
        // returns.
        future_adaptor<Future>::deliver(detail::moved(taken),
                                        [slot](Future done) { slot->put(detail::moved(done)); });
    }

    decltype(auto) await_resume() { return slot_ ? slot_->future().get() : future_.get(); }

private:
    Future future_;
    slot_ptr slot_;
    waiting_coroutine* waiting_ = nullptr;
};

}  // namespace detail

/// Returns the awaiter of `future`. An await may throw std::bad_alloc and the exceptions of the
/// future's library.
template <class Future>
    requires deliverable_future<Future>
auto await_future(Future future) {
    return detail::delivered_awaiter<Future>(detail::moved(future));
}

}  // namespace coroscope
