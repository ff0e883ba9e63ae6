// SPDX-License-Identifier: Apache-2.0
#include "forks.hpp"

#include <pthread.h>

#include <mutex>
#include <new>

#include "own_mutex.hpp"

namespace coroscope::runtime::inline base {
namespace {

// Ordered by rank, and complete at each moment: a guest joins by one store. A fork takes no lock of
// the list. The program may fork while it holds a guest's lock, and another thread's fork would
// hold the list's lock and wait for the guest's.
constinit std::atomic<fork_guest*> first{nullptr};
constinit own_mutex joining;

// The last guest that the fork under way has locked: a guest that joins meanwhile must not be
// unlocked. Only a thread that holds all the locks changes it.
constinit std::atomic<fork_guest*> last_locked{nullptr};

void before_fork() noexcept {
    fork_guest* last = nullptr;
    for (fork_guest* each = first.load(std::memory_order_acquire); each != nullptr;
         each = each->next.load(std::memory_order_acquire)) {
        if (each->lock == nullptr) continue;
        each->lock(*each);
        each->locked_before = last;
        last = each;
    }
    last_locked.store(last, std::memory_order_relaxed);
}

void after_fork_in_parent() noexcept {
    fork_guest* each = last_locked.load(std::memory_order_relaxed);
    while (each != nullptr) {
        fork_guest* const before = each->locked_before;
        each->unlock(*each);
        each = before;
    }
}

// A thread that is not there any more may have been about to let a guest join.
void after_fork_in_child() noexcept {
    ::new (&joining) own_mutex;
    after_fork_in_parent();
    for (const fork_guest* each = first.load(std::memory_order_relaxed); each != nullptr;
         each = each->next.load(std::memory_order_relaxed))
        if (each->in_child != nullptr) each->in_child();
}

// Runs before the constructors of the program's own static objects if both are linked together. A
// shared library's constructors run first in any case.
[[gnu::constructor(101)]] void follow_forks() noexcept {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

// Inserts the guest after the guests of the same rank.
void join_forks(fork_guest& guest) noexcept {
    const std::lock_guard lock(joining);
    std::atomic<fork_guest*>* at = &first;
    fork_guest* behind = at->load(std::memory_order_relaxed);
    while (behind != nullptr && behind->rank <= guest.rank) {
        at = &behind->next;
        behind = at->load(std::memory_order_relaxed);
    }
    guest.next.store(behind, std::memory_order_relaxed);
    at->store(&guest, std::memory_order_release);  // pairs with before_fork()
}

}  // namespace coroscope::runtime::inline base
