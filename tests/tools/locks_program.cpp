// SPDX-License-Identifier: Apache-2.0

// A program with planned waits for locks. It checks that each lock behaves as without the preloaded
// library, prints a line for each fault, and exits with 1 if there was one.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>
#include <coroscope/task.hpp>

#include "../support/awaited_call.hpp"

using namespace coroscope::test;

namespace {

int faults = 0;

void expect(bool holds, const char* what) {
    if (holds) return;
    std::printf("fault: %s\n", what);
    __atomic_store_n(&faults, 1, __ATOMIC_RELAXED);
}

void nap(long ms) {
    const timespec length{0, ms * 1'000'000};
    ::nanosleep(&length, nullptr);
}

timespec in_ms(clockid_t clock, long ms) {
    timespec until{};
    ::clock_gettime(clock, &until);
    until.tv_nsec += ms * 1'000'000;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    return until;
}

/// A thread that executes `body`, which locks and then calls its argument to hold the lock. `hold()`
/// holds it until let_go() is called, `hold(lock)` until another thread waits for it. When the
/// constructor returns, the lock is held.
class holder {
public:
    template <class Body>
    explicit holder(Body body) : thread_([body, this] { body(holding{this}); }) {
        while (!__atomic_load_n(&has_it_, __ATOMIC_ACQUIRE)) ::sched_yield();
    }
    ~holder() {
        let_go();
        thread_.join();
    }
    void let_go() { __atomic_store_n(&may_go_, true, __ATOMIC_RELEASE); }

private:
    struct holding {
        void operator()() const {
            __atomic_store_n(&self->has_it_, true, __ATOMIC_RELEASE);
            while (!__atomic_load_n(&self->may_go_, __ATOMIC_ACQUIRE)) nap(1);
        }
        template <class Lock>
        void operator()(const Lock* lock) const {
            __atomic_store_n(&self->has_it_, true, __ATOMIC_RELEASE);
            await_waiter(lock);
        }
        holder* self;
    };

    bool has_it_ = false;
    bool may_go_ = false;
    std::thread thread_;
};

class mutex {
public:
    explicit mutex(int type = PTHREAD_MUTEX_DEFAULT, int robust = PTHREAD_MUTEX_STALLED,
                   int protocol = PTHREAD_PRIO_NONE, int shared = PTHREAD_PROCESS_PRIVATE) {
        pthread_mutexattr_t kind;
        ::pthread_mutexattr_init(&kind);
        ::pthread_mutexattr_settype(&kind, type);
        ::pthread_mutexattr_setrobust(&kind, robust);
        ::pthread_mutexattr_setprotocol(&kind, protocol);
        ::pthread_mutexattr_setpshared(&kind, shared);
        ::pthread_mutex_init(&mutex_, &kind);
    }
    ~mutex() { expect(::pthread_mutex_destroy(&mutex_) == 0, "a mutex is free at the end"); }
    int lock() { return ::pthread_mutex_lock(&mutex_); }
    int unlock() { return ::pthread_mutex_unlock(&mutex_); }
    pthread_mutex_t* get() { return &mutex_; }

private:
    pthread_mutex_t mutex_{};
};

void wait_for_a_mutex() {
    static mutex& guard = *new mutex;
    const holder holds([&](auto hold) {
        COROSCOPE("holds the mutex");
        guard.lock();
        hold(guard.get());
        guard.unlock();
    });
    COROSCOPE("waits for the mutex");
    errno = ENOTTY;
    expect(guard.lock() == 0 && errno == ENOTTY, "a mutex is locked, and errno stays");
    expect(guard.unlock() == 0, "a mutex is unlocked");
}

coroscope::task<> hold_in_a_task(mutex& guard, bool& has_it) {
    COROSCOPE("holds in a task");
    guard.lock();
    __atomic_store_n(&has_it, true, __ATOMIC_RELEASE);
    await_waiter(guard.get());
    guard.unlock();
    co_return;
}

coroscope::task<> wait_in_a_task(mutex& guard) {
    COROSCOPE("waits in a task");
    guard.lock();
    guard.unlock();
    co_return;
}

void wait_for_a_task() {
    static mutex& guard = *new mutex;
    bool has_it = false;
    std::thread holder([&] { coroscope::sync_wait(hold_in_a_task(guard, has_it)); });
    while (!__atomic_load_n(&has_it, __ATOMIC_ACQUIRE)) ::sched_yield();
    coroscope::sync_wait(wait_in_a_task(guard));
    holder.join();
}

void time_out() {
    static mutex& guard = *new mutex;
    const holder holds([&](auto hold) {
        COROSCOPE("holds too long");
        guard.lock();
        hold();
        guard.unlock();
    });
    COROSCOPE("times out");
    timespec until = in_ms(CLOCK_REALTIME, 10);
    expect(::pthread_mutex_timedlock(guard.get(), &until) == ETIMEDOUT, "a timed lock ends");
    until = in_ms(CLOCK_MONOTONIC, 10);
    expect(::pthread_mutex_clocklock(guard.get(), CLOCK_MONOTONIC, &until) == ETIMEDOUT,
           "a lock until a moment of a clock ends");
    until.tv_nsec = -1;
    expect(::pthread_mutex_timedlock(guard.get(), &until) == EINVAL, "a bad time is refused");
}

void refuse_bad_arguments() {
    static mutex& guard = *new mutex;
    const timespec bad{0, -1};
    const timespec good = in_ms(CLOCK_MONOTONIC, 5);
    expect(::pthread_mutex_clocklock(guard.get(), CLOCK_PROCESS_CPUTIME_ID, &good) == EINVAL,
           "another clock is refused even if the mutex is free");
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    expect(::pthread_rwlock_timedrdlock(&lock, &bad) == EINVAL &&
               ::pthread_rwlock_timedwrlock(&lock, &bad) == EINVAL,
           "a reader-writer lock refuses a bad time even if it is free");
}

void lock_twice() {
    static mutex& recursive = *new mutex(PTHREAD_MUTEX_RECURSIVE);
    {
        const holder holds([&](auto hold) {
            COROSCOPE("holds twice");
            recursive.lock();
            expect(recursive.lock() == 0, "a recursive mutex is locked twice");
            hold(recursive.get());
            expect(recursive.unlock() == 0, "it stays locked");
            nap(20);
            expect(recursive.unlock() == 0, "it is released");
        });
        COROSCOPE("waits for a recursive mutex");
        expect(recursive.lock() == 0, "a recursive mutex is locked");
        recursive.unlock();
    }
}

[[maybe_unused]] void misuse() {
    static mutex& recursive = *new mutex(PTHREAD_MUTEX_RECURSIVE);
    expect(recursive.unlock() == EPERM, "a free recursive mutex cannot be unlocked");
    static mutex& checked = *new mutex(PTHREAD_MUTEX_ERRORCHECK);
    checked.lock();
    expect(checked.lock() == EDEADLK, "a checked mutex finds a deadlock");
    std::thread([&] {
        expect(checked.unlock() == EPERM, "a checked mutex knows its owner");
    }).join();
    checked.unlock();
}

[[maybe_unused]] void lose_the_owner() {
    static mutex& robust = *new mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    std::thread([&] { robust.lock(); }).join();
    expect(robust.lock() == EOWNERDEAD, "a robust mutex tells of its dead owner");
    expect(::pthread_mutex_consistent(robust.get()) == 0, "it is made consistent");
    expect(robust.unlock() == 0, "and unlocked");
    {
        const holder dies([&](auto hold) {
            robust.lock();
            hold(robust.get());
        });
        COROSCOPE("waits for the dead");
        expect(robust.lock() == EOWNERDEAD, "a waiter learns of the death");
        ::pthread_mutex_consistent(robust.get());
        robust.unlock();
    }
    std::thread([&] { robust.lock(); }).join();
    expect(robust.lock() == EOWNERDEAD && robust.unlock() == 0, "it is left inconsistent");
    expect(robust.lock() == ENOTRECOVERABLE, "and cannot be used any more");
}

void inherit_priority() {
    static mutex& inherits =
        *new mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    const holder holds([&](auto hold) {
        COROSCOPE("holds and inherits");
        inherits.lock();
        hold(inherits.get());
        inherits.unlock();
    });
    COROSCOPE("waits for an inheriting mutex");
    expect(inherits.lock() == 0 && inherits.unlock() == 0, "a mutex inherits priority");
}

void share_with_processes() {
    mutex shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
                 PTHREAD_PROCESS_SHARED);
    const holder holds([&](auto hold) {
        COROSCOPE("holds a shared mutex");
        shared.lock();
        hold(shared.get());
        shared.unlock();
    });
    COROSCOPE("waits for a shared mutex");
    expect(shared.lock() == 0 && shared.unlock() == 0, "a shared mutex is locked");
}

void read_and_write() {
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    {
        holder holds([&](auto hold) {
            COROSCOPE("writes");
            ::pthread_rwlock_wrlock(&lock);
            hold();
            hold(&lock);
            ::pthread_rwlock_unlock(&lock);
        });
        COROSCOPE("waits to read");
        timespec until = in_ms(CLOCK_REALTIME, 2);
        expect(::pthread_rwlock_timedrdlock(&lock, &until) == ETIMEDOUT, "a reader times out");
        holds.let_go();
        expect(::pthread_rwlock_rdlock(&lock) == 0, "a reader reads");
        ::pthread_rwlock_unlock(&lock);
    }
    const holder holds([&](auto hold) {
        COROSCOPE("reads");
        ::pthread_rwlock_rdlock(&lock);
        hold(&lock);
        ::pthread_rwlock_unlock(&lock);
    });
    COROSCOPE("waits to write");
    expect(::pthread_rwlock_rdlock(&lock) == 0, "readers share");
    expect(::pthread_rwlock_unlock(&lock) == 0, "and leave");
    expect(::pthread_rwlock_wrlock(&lock) == 0, "a writer writes");
    expect(::pthread_rwlock_wrlock(&lock) == EDEADLK, "a writer does not wait for itself");
    expect(::pthread_rwlock_unlock(&lock) == 0, "and leaves");
}

void wait_for_a_condition() {
    static mutex& guard = *new mutex;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    bool waits = false;
    bool set = false;
    std::thread waiter([&] {
        COROSCOPE("waits for a condition");
        guard.lock();
        waits = true;
        while (!set) ::pthread_cond_wait(&changed, guard.get());
        guard.unlock();
    });
    for (bool seen = false; !seen; guard.unlock()) {
        guard.lock();
        seen = waits;
    }
    await_waiter(&changed);
    {
        COROSCOPE("notifies too early");
        guard.lock();
        set = true;
        ::pthread_cond_signal(&changed);
        await_waiter(guard.get());
        guard.unlock();
    }
    waiter.join();
    guard.lock();
    const timespec until = in_ms(CLOCK_REALTIME, 3);
    expect(::pthread_cond_timedwait(&changed, guard.get(), &until) == ETIMEDOUT,
           "a wait for a condition ends");
    guard.unlock();
}

void wait_for_c_locks() {
    static mtx_t guard;
    ::mtx_init(&guard, mtx_timed);
    holder holds([&](auto hold) {
        COROSCOPE("holds C's mutex");
        ::mtx_lock(&guard);
        hold();
        hold(&guard);
        ::mtx_unlock(&guard);
    });
    COROSCOPE("waits for C's mutex");
    const timespec until = in_ms(CLOCK_REALTIME, 2);
    expect(::mtx_timedlock(&guard, &until) == thrd_timedout, "C's mutex times out");
    holds.let_go();
    expect(::mtx_lock(&guard) == thrd_success && ::mtx_unlock(&guard) == thrd_success,
           "C's mutex is locked");
}

long processor_ms(clockid_t clock) {
    timespec used{};
    ::clock_gettime(clock, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

void spin() {
    static pthread_spinlock_t lock;
    ::pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    clockid_t of_spinner{};
    ::pthread_getcpuclockid(::pthread_self(), &of_spinner);
    holder holds([&](auto hold) {
        COROSCOPE("holds a spin lock");
        ::pthread_spin_lock(&lock);
        hold();
        // The kernel does not see a wait. So much processor time is spent only by spinning.
        const long until_ms = processor_ms(of_spinner) + 5;
        while (processor_ms(of_spinner) < until_ms) nap(1);
        ::pthread_spin_unlock(&lock);
    });
    COROSCOPE("spins");
    holds.let_go();
    expect(::pthread_spin_lock(&lock) == 0 && ::pthread_spin_unlock(&lock) == 0, "it spins");
}

mutex of_handler, of_inner_handler;

void lock_in_a_handler() {
    const holder holds([&](auto hold) {
        COROSCOPE("holds against the handler");
        of_handler.lock();
        hold(of_handler.get());
        of_handler.unlock();
    });
    std::signal(SIGUSR1, [](int) {
        of_handler.lock();
        of_handler.unlock();
    });
    COROSCOPE("is interrupted");
    std::raise(SIGUSR1);
}

/// A handler that waits within another wait of its thread.
void wait_within_a_wait() {
    static mutex& outer = *new mutex;
    holder holds([&](auto hold) {
        COROSCOPE("holds the outer one");
        outer.lock();
        hold();
        outer.unlock();
    });
    const holder inner([&](auto hold) {
        COROSCOPE("holds the inner one");
        of_inner_handler.lock();
        hold(of_inner_handler.get());
        holds.let_go();
        of_inner_handler.unlock();
    });
    std::signal(SIGUSR1, [](int) {
        of_inner_handler.lock();
        of_inner_handler.unlock();
    });
    const pthread_t self = ::pthread_self();
    std::thread sender([self] {
        await_waiter(outer.get());
        ::pthread_kill(self, SIGUSR1);
    });
    {
        COROSCOPE("waits twice");
        outer.lock();
        outer.unlock();
    }
    sender.join();
}

[[maybe_unused]] void fork_while_locked() {
    static mutex& guard = *new mutex;
    static mutex& free_one = *new mutex;
    holder holds([&](auto hold) {
        COROSCOPE("holds over a fork");
        guard.lock();
        hold();
        guard.unlock();
    });
    std::thread waiter([&] {
        guard.lock();
        guard.unlock();
    });
    await_waiter(guard.get());
    const pid_t child = ::fork();
    if (child == 0) {
        for (int round = 0; round < 1000; ++round) {
            free_one.lock();
            free_one.unlock();
        }
        {
            const holder in_child([&](auto hold) {
                COROSCOPE("holds in the child");
                free_one.lock();
                hold(free_one.get());
                free_one.unlock();
            });
            COROSCOPE("waits in the child");
            free_one.lock();
            free_one.unlock();
        }
        std::exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    expect(status == 0, "a forked child locks and waits");
    holds.let_go();
    waiter.join();
}

void* wait_for_ever(void* with) {
    auto& [guard, changed] = *static_cast<std::pair<mutex, pthread_cond_t>*>(with);
    guard.lock();
    pthread_cleanup_push([](void* held) { static_cast<mutex*>(held)->unlock(); }, &guard);
    while (true) ::pthread_cond_wait(&changed, guard.get());
    pthread_cleanup_pop(1);
    return nullptr;
}

[[maybe_unused]] void cancel_a_wait() {
    std::pair<mutex, pthread_cond_t> with;
    with.second = PTHREAD_COND_INITIALIZER;
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, wait_for_ever, &with);
    await_waiter(&with.second);
    ::pthread_cancel(thread);
    void* result = nullptr;
    ::pthread_join(thread, &result);
    expect(result == PTHREAD_CANCELED, "a wait for a condition is a cancellation point");
}

/// Many threads, whose sum is right only if they exclude each other.
void crowd() {
    static mutex& guard = *new mutex;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int each = 0; each < 8; ++each)
        threads.emplace_back([&] {
            COROSCOPE("in the crowd");
            for (int round = 0; round < 500; ++round) {
                guard.lock();
                ++sum;
                if (round % 100 == 0) nap(1);
                guard.unlock();
            }
        });
    for (std::thread& each : threads) each.join();
    expect(sum == 8 * 500, "threads exclude each other");
}

}  // namespace

int main() {
    wait_for_a_mutex();
    wait_for_a_task();
    time_out();
    refuse_bad_arguments();
    lock_twice();
    inherit_priority();
    share_with_processes();
    read_and_write();
    wait_for_a_condition();
    wait_for_c_locks();
    spin();
    lock_in_a_handler();
    wait_within_a_wait();
    crowd();
#if !defined(__SANITIZE_THREAD__)  // which reports these, and starts no thread in a forked child
    misuse();
    lose_the_owner();
    fork_while_locked();
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    cancel_a_wait();
#endif
    return faults;
}
