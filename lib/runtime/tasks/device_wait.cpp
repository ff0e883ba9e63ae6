// SPDX-License-Identifier: Apache-2.0
#include <coroscope/detail/device_wait.hpp>

#include <atomic>
#include <cstdint>

#include <sched.h>

#include <coroscope/detail/completion.hpp>

#include "waking_thread.hpp"

namespace coroscope::detail {

namespace {

enum step : std::uint8_t { looking = 1, claimed = 2, answered = 4, told = 8, unwanted = 16 };

}  // namespace

// All steps are sequentially consistent, as in forget(): either forget() sees that a completion is
// being reported, or the reporter sees that the wait was forgotten. Likewise, of a reporter and the
// thread that looks, one sees the other's step and hands the coroutine on.

bool device_wait::tell(int result) noexcept {
    const std::atomic_ref steps(steps_);
    if ((steps.fetch_or(claimed) & claimed) != 0) return false;
    result_ = result;
    if ((steps.fetch_or(answered) & looking) == 0) hand_on();
    return true;
}

void device_wait::hand_on() noexcept {
    when_told();
    std::atomic_ref(steps_).fetch_or(told);
}

bool device_wait::is_over() noexcept {
    return (std::atomic_ref(steps_).load() & (claimed | unwanted)) != 0;
}

bool device_wait::look_now() noexcept {
    const std::atomic_ref steps(steps_);
    std::uint8_t none = 0;
    if (!steps.compare_exchange_strong(none, looking)) return false;
    const int answer = look();
    if ((steps.fetch_and(static_cast<std::uint8_t>(~looking)) & answered) != 0) {
        hand_on();
        return false;
    }
    return answer != pending && tell(answer);
}

void device_wait::stop() noexcept {
    const std::atomic_ref steps(steps_);
    std::uint8_t now = steps.fetch_or(unwanted);
    while ((now & looking) != 0 || (now & (claimed | told)) == claimed) {
        ::sched_yield();
        now = steps.load();
    }
}

void device_waiter::forget() noexcept {
    if (take() != nullptr) stop();
}

void device_waiter::resume() noexcept {
    if (void* waiter = take()) std::coroutine_handle<>::from_address(waiter).resume();
}

void device_waiter::resume_handed_over() noexcept {
    if (void* waiter = take()) hand_over_to(waiter);
}

void device_waiter::resume_on_waking_thread() noexcept {
    retain();
    if (location_ != nullptr) stamp_ = post_resuming_job(location_);
    run_on_waking_thread(job_);
}

void device_waiter::run_job(callback& self) noexcept {
    device_waiter& mine = *static_cast<job&>(self).waiter;
    if (mine.location_ == nullptr) {
        mine.resume();
    } else if (mine.forgotten()) {
        cancel_job(mine.stamp_);
    } else {
        const job_run run(mine.stamp_);
        mine.resume();
    }
    mine.release();
}

}  // namespace coroscope::detail
