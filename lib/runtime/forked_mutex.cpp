// SPDX-License-Identifier: Apache-2.0
#include "forked_mutex.hpp"

namespace coroscope::runtime {

// A list, which grows while libraries are loaded. Its own lock is held over a fork, too: what is unlocked then is what
// was locked.
class held_over_forks {
public:
    void add(forked_mutex& added) noexcept {
        const std::lock_guard lock(mutex_);
        added.next_ = first_;
        first_ = &added;
    }
    void lock() noexcept {
        mutex_.lock();
        for (const fork_order order : {fork_order::outer, fork_order::inner}) lock(order);
    }
    void unlock() noexcept {
        for (forked_mutex* each = first_; each != nullptr; each = each->next_) each->unlock();
        mutex_.unlock();
    }

private:
    void lock(fork_order order) noexcept {
        for (forked_mutex* each = first_; each != nullptr; each = each->next_)
            if (each->order_ == order) each->lock();
    }

    std::mutex mutex_;
    forked_mutex* first_ = nullptr;
};

namespace {

constinit held_over_forks all;

}  // namespace

void hold_over_forks(forked_mutex& added) noexcept { all.add(added); }
void lock_all_for_fork() noexcept { all.lock(); }
void unlock_all_after_fork() noexcept { all.unlock(); }

}  // namespace coroscope::runtime
