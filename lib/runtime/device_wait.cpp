// SPDX-License-Identifier: Apache-2.0
#include <coroscope/detail/device_wait.hpp>

#include <atomic>

#include <sched.h>

#include <coroscope/detail/completion.hpp>

#include "waking_thread.hpp"

namespace coroscope::detail {

// Sequentially consistent, as forget() is: either it finds that somebody tells, or who tells that it was forgotten.
bool device_wait::tell(int result) noexcept {
    const std::atomic_ref state(telling_);
    telling none = telling::no;
    if (!state.compare_exchange_strong(none, telling::now)) return false;
    result_ = result;
    when_told();
    state.store(telling::done);
    return true;
}

device_wait::telling device_wait::state() const noexcept {
    telling now;
    __atomic_load(&telling_, &now, __ATOMIC_SEQ_CST);
    return now;
}

void device_waiter::forget() noexcept {
    if (take() == nullptr) return;
    while (state() == telling::now) ::sched_yield();
}

void device_waiter::resume() noexcept {
    if (void* waiter = take()) std::coroutine_handle<>::from_address(waiter).resume();
}

void device_waiter::resume_handed_over() noexcept {
    if (void* waiter = take()) hand_over_to(waiter);
}

void device_waiter::resume_on_waking_thread() noexcept {
    retain(*this);
    if (location_ != nullptr) stamp_ = post_job(location_);
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
    release(mine);
}

}  // namespace coroscope::detail
