// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for a device. A waiter is notified once, either by the device's own callback or by the
// library's *waking thread*, which polls work that has no callback. This header does not depend on
// the device.
//
// The waking thread starts at its first use and ends with the process. After a fork the child
// starts its own thread when it needs one. A wait that began in the parent is not notified in the
// child.

#include <coroutine>
#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/callback_list.hpp>
#include <coroscope/detail/counted.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/executor_adaptor.hpp>

namespace coroscope::detail {

/// The interval between two looks of the waking thread. `often`: an eighth of the time waited so
/// far, between 20 us and 1 ms. `seldom`: 50 ms, for work that has a callback unless something
/// fails.
enum class look_again : std::uint8_t { often, seldom };

/// A wait with a reference count. Any thread may call tell(), retain() and release().
class device_wait {
public:
    static constexpr int pending = -1;

    device_wait() noexcept = default;
    device_wait(const device_wait&) = delete;
    device_wait& operator=(const device_wait&) = delete;

    /// Ends the wait with the device's answer: 0 or its error. Returns true for the one call that
    /// ended it. If the waking thread is looking at the object at this moment, it runs
    /// `when_told()` after its look, because `when_told()` may destroy the object that is looked
    /// at.
    COROSCOPE_API bool tell(int result) noexcept;
    /// On return no thread looks or runs `when_told()`, and the waking thread will not look again.
    COROSCOPE_API void stop() noexcept;
    /// The answer. Must be read only after `when_told()` has begun.
    int result() const noexcept { return result_; }

    /// The caller must call these around the device's callback. The callback may use this object
    /// until callback_done().
    void expect_callback() noexcept { __atomic_store_n(&expected_, true, __ATOMIC_RELAXED); }
    void callback_done() noexcept {
        __atomic_store_n(&expected_, false, __ATOMIC_RELEASE);  // pairs with is_expected()
    }

    void retain() noexcept { __atomic_fetch_add(&holders_, 1U, __ATOMIC_RELAXED); }
    void release() noexcept {
        if (__atomic_sub_fetch(&holders_, 1U, __ATOMIC_ACQ_REL) == 0)
            delete this;  // pairs with itself
    }

protected:
    virtual ~device_wait() = default;
    /// Asks the device: returns `pending`, 0 or its error. Called on the waking thread.
    virtual int look() noexcept = 0;
    /// Called once, by the thread that ended the wait, or by the waking thread if it was looking.
    virtual void when_told() noexcept = 0;

private:
    friend class waking_thread;
    /// Looks, unless the wait is over. Returns true if this ended the wait.
    bool look_now() noexcept;
    void hand_on() noexcept;
    bool is_over() noexcept;
    bool is_expected() const noexcept { return __atomic_load_n(&expected_, __ATOMIC_ACQUIRE); }

    device_wait* next_ = nullptr;  // this and the times belong to the waking thread
    std::int64_t since_ns_ = 0;
    std::int64_t due_ns_ = 0;
    std::uint32_t holders_ = 1;
    int result_ = pending;
    std::uint8_t steps_ = 0;
    bool expected_ = false;
    look_again again_ = look_again::often;
};
using device_wait_ptr = counted_ptr<device_wait>;

/// Starts the waking thread unless it runs. Returns false if it cannot be started.
[[nodiscard]] COROSCOPE_API bool start_waking_thread() noexcept;
/// Lets the waking thread look at `watched` until the wait is over. The thread must have been
/// started. If a callback was expected and never came, the object is never freed, because the
/// device knows its address.
COROSCOPE_API void watch(device_wait_ptr watched, look_again again) noexcept;

/// The wait of a coroutine.
class device_waiter : public device_wait {
public:
    /// Must be called in the awaiting coroutine's context. `location` is the place of the await;
    /// null if the wake must not be recorded.
    device_waiter(std::coroutine_handle<> waiter, const void* location) noexcept
        : waiter_(waiter.address()), location_(location), awaiting_(coroscope::current_context()) {}

    /// The coroutine goes on by other means, or never. On return its executor and the device's work
    /// are no longer used.
    COROSCOPE_API void forget() noexcept;

protected:
    bool forgotten() const noexcept {
        return __atomic_load_n(&waiter_, __ATOMIC_SEQ_CST) == nullptr;
    }
    const void* location() const noexcept { return location_; }
    const context& awaiting() const noexcept { return awaiting_; }

    /// Resumes the coroutine on this thread, unless it was forgotten.
    COROSCOPE_API void resume() noexcept;
    /// As resume(), for a wake and a resume at one moment.
    COROSCOPE_API void resume_handed_over() noexcept;
    /// As resume(), on the waking thread, as a job.
    COROSCOPE_API void resume_on_waking_thread() noexcept;

private:
    struct job final : callback {
        explicit job(device_waiter& of) noexcept : callback(run_job), waiter(&of) {}
        device_waiter* waiter;
    };
    COROSCOPE_API static void run_job(callback& self) noexcept;
    void* take() noexcept { return __atomic_exchange_n(&waiter_, nullptr, __ATOMIC_SEQ_CST); }

    void* waiter_;
    const void* location_;
    context awaiting_;
    job_stamp stamp_{};
    job job_{*this};
};

}  // namespace coroscope::detail
