// SPDX-License-Identifier: Apache-2.0
#pragma once

// The thread behind a future of async(). The last future of the thread waits for it, as the
// standard library's does.

#include <thread>
#include <utility>

#include <coroscope/detail/counted.hpp>

namespace coroscope::detail {

struct joiner {
    std::thread worker;
    unsigned holders = 1;

    void retain() noexcept { __atomic_fetch_add(&holders, 1U, __ATOMIC_RELAXED); }
    void release() noexcept { leave(true); }

    /// Releases one reference. The last holder waits for the thread or, unless `waits`, lets it run
    /// on.
    void leave(bool waits) noexcept {
        if (__atomic_sub_fetch(&holders, 1U, __ATOMIC_ACQ_REL) != 0) return;  // pairs with itself
        if (worker.joinable()) end(waits);
        delete this;
    }

private:
    // A coroutine that awaited the future may destroy it on the worker itself, which cannot join
    // itself.
    void end(bool waits) {
        if (waits && worker.get_id() != std::this_thread::get_id()) {
            worker.join();
        } else {
            worker.detach();
        }
    }
};

/// A future's reference to its thread.
class joiner_ptr {
public:
    joiner_ptr() noexcept = default;
    explicit joiner_ptr(joiner* held) noexcept : held_(held) {}

    /// Starts the thread; must be called once. Throws std::system_error if no thread can be
    /// started.
    template <class Function>
    void start(Function&& function) {
        held_->worker = std::thread(static_cast<Function&&>(function));
    }

    /// Releases the future's reference. A future that was converted to a plain std::future and is
    /// not ready does not wait.
    void leave(bool waits) noexcept {
        if (joiner* const held = held_.detach()) held->leave(waits);
    }

private:
    counted_ptr<joiner> held_;
};

}  // namespace coroscope::detail
