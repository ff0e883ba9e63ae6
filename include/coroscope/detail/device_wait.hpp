// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for a device: who waits is told once, by the device's own callback or by the library's *waking thread*,
// which looks at what does not tell. Nothing here knows which device that is.
//
// The waking thread starts when it is first needed and ends with the process. A forked child has none until it
// needs its own; who waited in the parent is not told in the child.

#include <coroutine>
#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/callback_list.hpp>
#include <coroscope/detail/counted.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/executor_adaptor.hpp>

namespace coroscope::detail {

/// How soon the waking thread looks again: `often` after an eighth of the time that it has waited, between 20 us
/// and 1 ms; `seldom` after 50 ms, for what is told otherwise as long as nothing fails.
enum class look_again : std::uint8_t { often, seldom };

/// Counted. Any thread may tell.
class device_wait {
public:
    static constexpr int pending = -1;

    device_wait() noexcept = default;
    device_wait(const device_wait&) = delete;
    device_wait& operator=(const device_wait&) = delete;

    /// Ends the wait with the device's answer: 0, or its error. True for the one call that did. Where the waking thread
    /// is just looking, it tells, when it has looked: who is told may destroy what is looked at.
    COROSCOPE_API bool tell(int result) noexcept;
    /// On return nobody looks and nobody tells, nor will the waking thread look any more.
    COROSCOPE_API void stop() noexcept;
    /// The answer, for who was told.
    int result() const noexcept { return result_; }

    /// Around the device's callback, which uses this object as long as it may come.
    void expect_callback() noexcept { __atomic_store_n(&expected_, true, __ATOMIC_RELAXED); }
    void callback_done() noexcept {
        __atomic_store_n(&expected_, false, __ATOMIC_RELEASE);  // pairs with is_expected()
    }

    friend void retain(device_wait& self) noexcept {
        __atomic_fetch_add(&self.holders_, 1U, __ATOMIC_RELAXED);
    }
    friend void release(device_wait& self) noexcept {
        if (__atomic_sub_fetch(&self.holders_, 1U, __ATOMIC_ACQ_REL) == 0)
            delete &self;  // pairs with itself
    }

protected:
    virtual ~device_wait() = default;
    /// Asks the device: `pending`, 0 or its error. On the waking thread.
    virtual int look() noexcept = 0;
    virtual void when_told() noexcept = 0;

private:
    friend class waking_thread;
    /// Looks, unless it is over. True where that ended the wait.
    bool look_now() noexcept;
    void hand_on() noexcept;
    bool is_over() noexcept;
    bool is_expected() const noexcept { return __atomic_load_n(&expected_, __ATOMIC_ACQUIRE); }

    device_wait* next_ = nullptr;  // the waking thread's, as are the times
    std::int64_t since_ns_ = 0;
    std::int64_t due_ns_ = 0;
    std::uint32_t holders_ = 1;
    int result_ = pending;
    std::uint8_t steps_ = 0;
    bool expected_ = false;
    look_again again_ = look_again::often;
};
using device_wait_ptr = counted_ptr<device_wait>;

/// False where it cannot be started.
[[nodiscard]] COROSCOPE_API bool start_waking_thread() noexcept;
/// The waking thread looks at it until it has been told. One whose callback was expected and never came is never freed:
/// the device knows its address. Precondition: the thread has been started.
COROSCOPE_API void watch(device_wait_ptr watched, look_again again) noexcept;

/// A coroutine's wait.
class device_waiter : public device_wait {
public:
    /// Under the awaiting coroutine's context. `location`: of the await; null where nothing is to be recorded.
    device_waiter(std::coroutine_handle<> waiter, const void* location) noexcept
        : waiter_(waiter.address()), location_(location), awaiting_(current_context()) {}

    /// The coroutine goes on otherwise, or never. On return its executor and the device's work are not used any more.
    COROSCOPE_API void forget() noexcept;

protected:
    bool forgotten() const noexcept {
        return __atomic_load_n(&waiter_, __ATOMIC_SEQ_CST) == nullptr;
    }
    const void* location() const noexcept { return location_; }
    const context& awaiting() const noexcept { return awaiting_; }

    /// Goes on with it here, unless it was forgotten.
    COROSCOPE_API void resume() noexcept;
    /// The same as a hand-over: its wake is its resume.
    COROSCOPE_API void resume_handed_over() noexcept;
    /// Has the waking thread do it, as a job.
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
