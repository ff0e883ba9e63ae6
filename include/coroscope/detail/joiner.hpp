// SPDX-License-Identifier: Apache-2.0
#pragma once

// The thread behind a future of async(): the last future of it waits for the thread, as the standard
// library's does.

#include <thread>
#include <utility>

#include <coroscope/detail/counted.hpp>

namespace coroscope::detail {

struct joiner {
    std::thread worker;
    unsigned holders = 1;

    friend void retain(joiner& self) noexcept {
        __atomic_fetch_add(&self.holders, 1U, __ATOMIC_RELAXED);
    }
    friend void release(joiner& self) noexcept {
        if (__atomic_sub_fetch(&self.holders, 1U, __ATOMIC_ACQ_REL) != 0)
            return;  // pairs with itself
        if (self.worker.joinable()) self.join();
        delete &self;
    }

private:
    // A coroutine that awaited the future destroys it on that very thread.
    void join() {
        if (worker.get_id() == std::this_thread::get_id()) {
            worker.detach();
        } else {
            worker.join();
        }
    }
};

/// What a future holds of its thread.
class joiner_ptr {
public:
    joiner_ptr() noexcept = default;
    explicit joiner_ptr(joiner* held) noexcept : held_(held) {}

    /// Starts the thread, once. Throws std::system_error where there is none.
    template <class Function>
    void start(Function&& function) {
        held_->worker = std::thread(static_cast<Function&&>(function));
    }

    /// The future goes. One that has become a plain std::future, which is to be ready yet, does not wait.
    void leave(bool waits) noexcept {
        if (!held_) return;
        if (!waits) held_->worker.detach();
        held_ = {};
    }

private:
    counted_ptr<joiner> held_;
};

}  // namespace coroscope::detail
