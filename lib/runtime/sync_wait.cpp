// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <coroscope/task.hpp>

namespace coroscope::detail {

void sync_wait_state::wait() noexcept {
    const std::atomic_ref<int> done(done_);
    while (done.load(std::memory_order_acquire) == 0)
        done.wait(0, std::memory_order_acquire);  // pairs with set()
}

void sync_wait_state::set() noexcept {
    const std::atomic_ref<int> done(done_);
    done.store(1, std::memory_order_release);
    done.notify_one();
}

}  // namespace coroscope::detail
