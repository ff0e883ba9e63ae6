// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tool's stack of ranges per thread, where "pop" ends the innermost one. What was pushed is popped by the thread that
// pushed it, when it has ended and nothing is open above it: a range that ended elsewhere, or before those in it,
// is popped late, and nobody else's in its place.

#include <atomic>
#include <utility>

namespace coroscope {

/// `Tool` has a static pop(). Its thread-local part needs no destructor: scopes end in those of others, too.
template <class Tool>
class push_stack {
public:
    /// Held by the thread's stack and by whoever ends it.
    class entry {
        friend push_stack;
        std::atomic<int> holders_{2};
        std::atomic<bool> ended_{false};
        entry* below_ = nullptr;
    };

    /// Before the tool is told. Throws std::bad_alloc.
    static entry& push() {
        auto* added = new entry;
        settle();
        added->below_ = std::exchange(top, added);
        return *added;
    }

    /// On any thread.
    static void end(entry& of) noexcept {
        of.ended_.store(true, std::memory_order_relaxed);
        release(of);
        settle();
    }

private:
    static void settle() noexcept {
        while (top != nullptr && top->ended_.load(std::memory_order_relaxed)) {
            Tool::pop();
            release(*std::exchange(top, top->below_));
        }
    }
    static void release(entry& of) noexcept {
        if (of.holders_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete &of;  // pairs with itself
    }

    static inline thread_local constinit entry* top = nullptr;
};

}  // namespace coroscope
