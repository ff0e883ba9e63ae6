// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tool's stack of ranges per thread, where "pop" ends the innermost one. What was pushed is popped by the thread that
// pushed it, when it has ended and nothing is open above it: a range that ended elsewhere, or before those in it,
// is popped late, and nobody else's in its place.

#include <pthread.h>

#include <atomic>
#include <new>
#include <utility>

namespace coroscope {

/// `Tool` has a static pop(). A thread's stack is found by a key without a destructor: scopes end in destructors of
/// others, too, and a library's thread-local variables are scarce.
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
        added->below_ = top();
        if (set_top(added)) return *added;
        delete added;
        throw std::bad_alloc();
    }

    /// On any thread.
    static void end(entry& of) noexcept {
        of.ended_.store(true, std::memory_order_relaxed);
        release(of);
        settle();
    }

private:
    static void settle() noexcept {
        entry* at = top();
        while (at != nullptr && at->ended_.load(std::memory_order_relaxed)) {
            Tool::pop();
            set_top(at->below_);
            release(*std::exchange(at, at->below_));
        }
    }
    static void release(entry& of) noexcept {
        if (of.holders_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete &of;  // pairs with itself
    }

    struct thread_key {
        pthread_key_t key = 0;
        bool made = pthread_key_create(&key, nullptr) == 0;
    };
    static const thread_key& stacks() noexcept {
        static const thread_key made;
        return made;
    }
    static entry* top() noexcept {
        return stacks().made ? static_cast<entry*>(pthread_getspecific(stacks().key)) : nullptr;
    }
    static bool set_top(entry* to) noexcept {
        return stacks().made && pthread_setspecific(stacks().key, to) == 0;
    }
};

}  // namespace coroscope
