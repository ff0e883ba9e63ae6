// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tool's stack of ranges per thread, in which a pop ends the innermost range. The thread that
// pushed a range pops it when the range has ended and no range above it is open. A range that ended
// on another thread, or before the ranges inside it, is therefore popped late, and no other range
// is popped in its place.

#include <pthread.h>

#include <atomic>
#include <new>
#include <utility>

namespace coroscope {

/// `Tool` must have a static pop(). A thread's stack is found through a pthread key. The key has no
/// destructor, because scopes also end in destructors of thread-local variables. A thread-local
/// variable is not used, because memory for thread-local variables of a shared library is scarce.
template <class Tool>
class push_stack {
public:
    /// A pushed range. It has two holders: the thread's stack and the caller of end().
    class entry {
        friend push_stack;
        std::atomic<int> holders_{2};
        std::atomic<bool> ended_{false};
        entry* below_ = nullptr;
    };

    /// Must be called before the tool's own push. Throws std::bad_alloc.
    static entry& push() {
        auto* added = new entry;
        settle();
        added->below_ = top();
        if (set_top(added)) return *added;
        delete added;
        throw std::bad_alloc();
    }

    /// Any thread may call it.
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
