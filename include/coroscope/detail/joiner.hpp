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
    friend void release(joiner& self) noexcept { self.leave(true); }

    /// One holder goes; the last one waits for the thread, or lets it run on.
    void leave(bool waits) noexcept {
        if (__atomic_sub_fetch(&holders, 1U, __ATOMIC_ACQ_REL) != 0) return;  // pairs with itself
        if (worker.joinable()) end(waits);
        delete this;
    }

private:
    // A coroutine that awaited the future destroys it on that very thread.
    void end(bool waits) {
        if (waits && worker.get_id() != std::this_thread::get_id()) {
            worker.join();
        } else {
            worker.detach();
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
        if (joiner* const held = held_.detach()) held->leave(waits);
    }

private:
    counted_ptr<joiner> held_;
};

}  // namespace coroscope::detail
