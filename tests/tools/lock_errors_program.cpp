// SPDX-License-Identifier: Apache-2.0

// Misuses locks in each way that has a defined result, and prints the results. A test compares the
// output with and without the preloaded library.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>

#include "../support/awaited_call.hpp"

using namespace coroscope::test;

namespace {

constexpr long ms = 1'000'000;

void print(int result) { std::printf(" %s", result == 0 ? "ok" : ::strerrorname_np(result)); }

timespec from_now(clockid_t clock, long ns) {
    timespec until{};
    ::clock_gettime(clock, &until);
    until.tv_nsec += ns;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    return until;
}

/// A thread of pthread_create(), because it may end while it holds a lock.
class started {
public:
    started(void* (*body)(void*), void* with) { ::pthread_create(&thread_, nullptr, body, with); }
    void cancel() const { ::pthread_cancel(thread_); }
    void* result() const {
        void* result = nullptr;
        ::pthread_join(thread_, &result);
        return result;
    }

private:
    pthread_t thread_{};
};

/// Executes the body on another thread, and waits for the thread's end.
template <class Body>
void elsewhere(Body body) {
    const started thread(
        [](void* with) -> void* {
            (*static_cast<Body*>(with))();
            return nullptr;
        },
        &body);
    thread.result();
}

struct kind {
    int type;
    int robust;
    int protocol;
    int shared;
};

using lock_function = int (*)(pthread_mutex_t*);

int lock_until_later(pthread_mutex_t* mutex) {
    const timespec until = from_now(CLOCK_REALTIME, 2 * ms);
    return ::pthread_mutex_timedlock(mutex, &until);
}
int lock_until_later_by_clock(pthread_mutex_t* mutex) {
    const timespec until = from_now(CLOCK_MONOTONIC, 2 * ms);
    return ::pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
}
int lock_until_past(pthread_mutex_t* mutex) {
    constexpr timespec past{-1, 0};
    return ::pthread_mutex_timedlock(mutex, &past);
}
int lock_until_bad_time(pthread_mutex_t* mutex) {
    constexpr timespec bad{0, -1};
    return ::pthread_mutex_timedlock(mutex, &bad);
}
int lock_until_bad_time_by_clock(pthread_mutex_t* mutex) {
    constexpr timespec bad{0, 1'000'000'000};
    return ::pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &bad);
}
int lock_by_bad_clock(pthread_mutex_t* mutex) {
    const timespec until = from_now(CLOCK_MONOTONIC, 2 * ms);
    return ::pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &until);
}

constexpr lock_function lasting[] = {::pthread_mutex_lock, lock_until_later,
                                     lock_until_later_by_clock};
constexpr lock_function ending[] = {
    lock_until_later,  lock_until_later_by_clock,    lock_until_past,        lock_until_bad_time,
    lock_by_bad_clock, lock_until_bad_time_by_clock, ::pthread_mutex_trylock};

class mutex {
public:
    explicit mutex(const kind& of) : kind_(of) {
        pthread_mutexattr_t attributes;
        ::pthread_mutexattr_init(&attributes);
        ::pthread_mutexattr_settype(&attributes, of.type);
        ::pthread_mutexattr_setrobust(&attributes, of.robust);
        ::pthread_mutexattr_setprotocol(&attributes, of.protocol);
        ::pthread_mutexattr_setpshared(&attributes, of.shared);
        print(::pthread_mutex_init(&mutex_, &attributes));
    }
    bool lock(lock_function by) {
        const int result = by(&mutex_);
        print(result);
        return result == 0 || result == EOWNERDEAD;
    }
    void unlock() { print(::pthread_mutex_unlock(&mutex_)); }
    void make_consistent() { print(::pthread_mutex_consistent(&mutex_)); }
    void destroy() { print(::pthread_mutex_destroy(&mutex_)); }
    pthread_mutex_t* get() { return &mutex_; }

    [[nodiscard]] bool knows_its_owner() const {
        return kind_.type == PTHREAD_MUTEX_RECURSIVE || kind_.type == PTHREAD_MUTEX_ERRORCHECK;
    }
    [[nodiscard]] bool is_robust() const { return kind_.robust == PTHREAD_MUTEX_ROBUST; }

private:
    kind kind_;
    pthread_mutex_t mutex_{};
};

void lock_a_free_one(mutex& of) {
    for (const lock_function each : lasting)
        if (of.lock(each)) of.unlock();
    for (const lock_function each : {lock_until_past, lock_until_bad_time})
        if (of.lock(each)) of.unlock();
    of.lock(lock_by_bad_clock);
}

void lock_twice(mutex& of) {
    of.lock(::pthread_mutex_lock);
    for (const lock_function each : ending) {
        of.lock(each);
        if (of.knows_its_owner()) of.unlock(), of.lock(::pthread_mutex_lock);
    }
    if (of.knows_its_owner()) of.lock(::pthread_mutex_lock);
    for (int each = 0; of.knows_its_owner() && each < 12; ++each) of.unlock();
    if (!of.knows_its_owner()) of.unlock();
}

void use_anothers(mutex& of) {
    of.lock(::pthread_mutex_lock);
    elsewhere([&] {
        for (const lock_function each : ending)
            if (of.lock(each)) of.unlock();
        if (of.knows_its_owner() || of.is_robust()) of.unlock();
    });
    of.unlock();
}

/// Another thread waits while this one holds the mutex for some milliseconds.
void wait_for_a_holder(mutex& of) {
    of.lock(::pthread_mutex_lock);
    const started waiter(
        [](void* held) -> void* {
            int result = ::pthread_mutex_lock(static_cast<mutex*>(held)->get());
            if (result == 0) result = ::pthread_mutex_unlock(static_cast<mutex*>(held)->get());
            return reinterpret_cast<void*>(static_cast<long>(result));
        },
        &of);
    ::usleep(2000);
    of.unlock();
    print(static_cast<int>(reinterpret_cast<long>(waiter.result())));
}

void lose_the_owner(mutex& of) {
    for (const lock_function each : lasting) {
        elsewhere([&] { of.lock(::pthread_mutex_lock); });
        of.lock(each), of.make_consistent(), of.unlock();
        of.lock(each), of.make_consistent(), of.unlock();
    }
    static bool has_it = false;
    has_it = false;
    const started owner(
        [](void* held) -> void* {
            ::pthread_mutex_lock(static_cast<mutex*>(held)->get());
            __atomic_store_n(&has_it, true, __ATOMIC_RELEASE);
            ::usleep(3000);
            return nullptr;
        },
        &of);
    while (!__atomic_load_n(&has_it, __ATOMIC_ACQUIRE)) ::sched_yield();
    of.lock(::pthread_mutex_lock), of.make_consistent(), of.unlock();
    owner.result();
}

void lose_the_state(mutex& of) {
    elsewhere([&] { of.lock(::pthread_mutex_lock); });
    of.lock(::pthread_mutex_lock), of.unlock();
    for (int twice = 0; twice < 2; ++twice) {
        for (const lock_function each : lasting) of.lock(each);
        elsewhere([&] {
            for (const lock_function each : lasting) of.lock(each);
        });
    }
    of.unlock(), of.make_consistent();
}

// With a priority ceiling, a lock of glibc 2.36 may fail or never return on a second thread, so
// only one thread locks.
void use_mutexes(const kind& of) {
    std::printf("mutex %d %d %d %d:", of.type, of.robust, of.protocol, of.shared);
    mutex used(of);
    lock_a_free_one(used);
    if (of.protocol != PTHREAD_PRIO_PROTECT) {
        std::printf("\n  twice:");
        lock_twice(used);
        std::printf("\n  another's:");
        use_anothers(used);
        wait_for_a_holder(used);
    }
    if (used.is_robust() && of.protocol != PTHREAD_PRIO_PROTECT) {
        std::printf("\n  without its owner:");
        lose_the_owner(used);
        std::printf("\n  not recoverable:");
        lose_the_state(used);
    }
    used.destroy();
    std::printf("\n");
}

void use_reader_writer_locks(int kind) {
    std::printf("rwlock %d:", kind);
    pthread_rwlockattr_t attributes;
    ::pthread_rwlockattr_init(&attributes);
    ::pthread_rwlockattr_setkind_np(&attributes, kind);
    pthread_rwlock_t lock;
    print(::pthread_rwlock_init(&lock, &attributes));
    constexpr timespec bad{0, -1};
    constexpr timespec past{-1, 0};
    const auto try_all = [&] {
        print(::pthread_rwlock_timedrdlock(&lock, &bad)),
            print(::pthread_rwlock_timedwrlock(&lock, &bad));
        print(::pthread_rwlock_timedwrlock(&lock, &past));
        print(::pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past));
        print(::pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past));
        print(::pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &past));
        print(::pthread_rwlock_trywrlock(&lock));
    };
    print(::pthread_rwlock_wrlock(&lock)), print(::pthread_rwlock_wrlock(&lock));
    print(::pthread_rwlock_rdlock(&lock)), print(::pthread_rwlock_timedrdlock(&lock, &past));
    try_all();
    elsewhere(try_all);
    elsewhere([&] { print(::pthread_rwlock_timedrdlock(&lock, &past)); });
    print(::pthread_rwlock_unlock(&lock));
    print(::pthread_rwlock_rdlock(&lock)), print(::pthread_rwlock_rdlock(&lock));
    try_all();
    elsewhere(try_all);
    print(::pthread_rwlock_unlock(&lock)), print(::pthread_rwlock_unlock(&lock));
    print(::pthread_rwlock_destroy(&lock));
    std::printf("\n");
}

void use_condition_variables(const kind& of) {
    std::printf("condition %d %d:", of.type, of.robust);
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    mutex used(of);
    constexpr timespec bad{0, -1};
    constexpr timespec past{-1, 0};
    if (used.knows_its_owner()) print(::pthread_cond_wait(&condition, used.get()));
    used.lock(::pthread_mutex_lock);
    print(::pthread_cond_timedwait(&condition, used.get(), &bad));
    print(::pthread_cond_timedwait(&condition, used.get(), &past));
    print(::pthread_cond_clockwait(&condition, used.get(), CLOCK_MONOTONIC, &past));
    print(::pthread_cond_clockwait(&condition, used.get(), CLOCK_PROCESS_CPUTIME_ID, &past));
    const timespec until = from_now(CLOCK_REALTIME, 2 * ms);
    print(::pthread_cond_timedwait(&condition, used.get(), &until));
    print(::pthread_cond_signal(&condition)), print(::pthread_cond_broadcast(&condition));
    used.unlock(), used.destroy();
    print(::pthread_cond_destroy(&condition));
    std::printf("\n");
}

/// A thread that is cancelled in its wait holds the mutex again when its handlers are called.
void cancel_waits() {
    std::printf("cancelled:");
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    constexpr auto wait = [](void* /*none*/) -> void* {
        ::pthread_mutex_lock(&guard);
        pthread_cleanup_push(
            [](void* /*none*/) {
                print(::pthread_mutex_trylock(&guard));
                print(::pthread_mutex_unlock(&guard));
            },
            nullptr);
        const timespec until = from_now(CLOCK_REALTIME, 900 * ms);
        while (true)
            if (::pthread_cond_timedwait(&condition, &guard, &until) != EINTR)
                ::pthread_cond_wait(&condition, &guard);
        pthread_cleanup_pop(0);
        return nullptr;
    };
    for (int each = 0; each < 2; ++each) {
        const started waiter(wait, nullptr);
        ::usleep(3000);
        waiter.cancel();
        std::printf(" %s", waiter.result() == PTHREAD_CANCELED ? "cancelled" : "ended");
    }
    print(::pthread_mutex_lock(&guard)), print(::pthread_mutex_unlock(&guard));
    std::printf("\n");
}

void use_c_locks(int kind) {
    std::printf("C's mutex %d:", kind);
    mtx_t lock;
    constexpr timespec past{-1, 0};
    constexpr timespec bad{0, -1};
    const auto show = [](int result) { std::printf(" %d", result); };
    show(::mtx_init(&lock, kind)), show(::mtx_lock(&lock));
    if ((kind & mtx_recursive) != 0) show(::mtx_lock(&lock)), show(::mtx_unlock(&lock));
    elsewhere([&] {
        show(::mtx_timedlock(&lock, &past)), show(::mtx_timedlock(&lock, &bad));
        show(::mtx_trylock(&lock));
    });
    show(::mtx_unlock(&lock)), show(::mtx_timedlock(&lock, &bad)), show(::mtx_unlock(&lock));
    std::printf("\n");
}

/// Holds a robust mutex while another thread waits for it. Does the same again after the death of
/// an owner.
void wait_for_robust_mutexes(int protocol) {
    std::printf("robust %d:", protocol);
    static mutex* used = nullptr;
    used =
        new mutex({PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, protocol, PTHREAD_PROCESS_PRIVATE});
    mutex& robust = *used;  // never deleted, so that no later mutex has its address
    const auto wait = [](void* /*none*/) -> void* {
        COROSCOPE("waits for a robust mutex");
        ::pthread_mutex_lock(used->get());
        ::pthread_mutex_unlock(used->get());
        return nullptr;
    };
    {
        COROSCOPE("holds a robust mutex");
        robust.lock(::pthread_mutex_lock);
        const started waiter(wait, nullptr);
        await_waiter(robust.get());
        robust.unlock();
        waiter.result();
    }
    elsewhere([&] { robust.lock(::pthread_mutex_lock); });
    {
        COROSCOPE("holds a dead thread's mutex");
        robust.lock(::pthread_mutex_lock);
        const started waiter(wait, nullptr);
        await_waiter(robust.get());
        robust.make_consistent(), robust.unlock();
        waiter.result();
    }
    robust.destroy();
    std::printf("\n");
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    COROSCOPE("misuses locks");
    for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT})
        for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST})
            for (const int shared : {PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED})
                for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK,
                                       PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ADAPTIVE_NP})
                    use_mutexes({type, robust, protocol, shared});
    for (const int each : {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
                           PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP})
        use_reader_writer_locks(each);
    for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST})
        for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK})
            use_condition_variables({type, robust, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE});
    cancel_waits();
    for (const int each : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT}) wait_for_robust_mutexes(each);
    for (const int each : {mtx_timed | 0, mtx_timed | mtx_recursive}) use_c_locks(each);
    return 0;
}
