// SPDX-License-Identifier: Apache-2.0

// traced_mutex and traced_semaphore: which calls become waits, and that they are locks.

#include <coroscope/traced_mutex.hpp>
#include <coroscope/traced_semaphore.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

constinit traced_mutex<> early("constant data");

// A mutex whose try_lock() always fails and whose lock() always succeeds.
struct never_free {
    void lock() {}
    bool try_lock() { return false; }
    void unlock() {}
    void lock_shared() {}
    bool try_lock_shared() { return false; }
    void unlock_shared() {}
};

struct throwing_mutex : never_free {
    void lock() { throw std::runtime_error("not today"); }
};

template <class M>
concept has_shares = requires(M& mutex) { mutex.lock_shared(); };
template <class M>
concept has_timeouts = requires(M& mutex) { mutex.try_lock_for(1ms); };
static_assert(!has_shares<traced_mutex<>> && !has_timeouts<traced_mutex<>>);
static_assert(has_shares<traced_mutex<std::shared_mutex>>);
static_assert(!has_timeouts<traced_mutex<std::shared_mutex>>);
static_assert(has_timeouts<traced_mutex<std::timed_mutex>>);
static_assert(has_timeouts<traced_mutex<std::shared_timed_mutex>>);

template <class Action>
void on_other_thread(const Action& action) {
    std::thread(action).join();
}

template <class Mutex>
long count_together(Mutex& mutex, int threads, int turns) {
    long count = 0;
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread)
        all.emplace_back([&] {
            for (int turn = 0; turn < turns; ++turn) {
                const std::scoped_lock lock(mutex);
                ++count;
            }
        });
    for (std::thread& each : all) each.join();
    return count;
}

}  // namespace

TEST_SUITE("traced_mutex") {
    TEST_CASE("only a lock that was not free at once becomes a wait") {
        recording session;
        traced_mutex<> always("always free");
        const std::scoped_lock both(always, early);
        traced_mutex<never_free> never("never free");
        const std::unique_lock lock(never);
        CHECK_FALSE(never.try_lock());
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 1);
        CHECK(found.site_label(found.trace.resource_waits[0].site) == "never free");
    }

    TEST_CASE("a lock that is refused by an exception is a wait that was given up") {
        recording session;
        traced_mutex<throwing_mutex> mutex("throws");
        CHECK_THROWS_AS(mutex.lock(), std::runtime_error);
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 1);
        CHECK(found.trace.resource_waits[0].gave_up);
    }

    TEST_CASE("a time-out is a wait that was given up, and names the holder") {
        recording session;
        traced_mutex<std::shared_timed_mutex> mutex("timed");
        const std::unique_lock lock(mutex);
        on_other_thread([&] {
            CHECK_FALSE(mutex.try_lock_for(1ms));
            CHECK_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now()));
            CHECK_FALSE(mutex.try_lock_shared_for(1ms));
            CHECK_FALSE(mutex.try_lock_shared_until(std::chrono::steady_clock::now()));
            CHECK_FALSE(mutex.try_lock_shared());
        });
        const recorded found = session.stop();
        CHECK(found.trace.resource_waits.size() == 4);
        for (const analysis::resource_wait& each : found.trace.resource_waits) {
            CHECK(each.gave_up);
            CHECK(each.holder_known);
            CHECK(each.end_ns >= each.start_ns);
        }
    }

    TEST_CASE("a recursive mutex is held until its outermost unlock") {
        recording session;
        traced_mutex<std::recursive_timed_mutex> mutex("recursive");
        mutex.lock();
        CHECK(mutex.try_lock());
        CHECK(mutex.try_lock_for(1ms));
        mutex.unlock();
        mutex.unlock();
        on_other_thread([&] { CHECK_FALSE(mutex.try_lock_for(0ms)); });
        mutex.unlock();
        on_other_thread([&] {
            CHECK(mutex.try_lock());
            mutex.unlock();
        });
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 1);
        CHECK(found.trace.resource_waits[0].holder_known);
    }

    TEST_CASE("readers do not become the holder, and a wait of theirs is shared") {
        recording session;
        traced_mutex<std::shared_timed_mutex> free("free");
        const std::shared_lock one(free), other(free);
        on_other_thread([&] { CHECK_FALSE(free.try_lock_for(1ms)); });
        traced_mutex<never_free> never("never free");
        never.lock_shared();
        never.unlock_shared();
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        CHECK_FALSE(found.trace.resource_waits[0].holder_known);
        CHECK_FALSE(found.trace.resource_waits[1].gave_up);
        CHECK(found.trace.resource_waits[1].shared);
    }

    TEST_CASE("threads that contend exclude each other, and each of their waits is in the trace") {
        recording session;
        traced_mutex<> mutex("contended");
        constexpr int threads = 4, turns = 5'000;
        CHECK(count_together(mutex, threads, turns) == threads * turns);
        const recorded found = session.stop();
        for (const analysis::resource_wait& each : found.trace.resource_waits) {
            CHECK(each.end_ns >= each.start_ns);
            CHECK(each.thread != analysis::none);
            if (each.holder_known) CHECK(each.holder_thread != each.thread);
            if (each.released_ns) {
                CHECK(each.releaser_thread != each.thread);
                CHECK(*each.released_ns >= each.start_ns);
                CHECK(*each.released_ns <= each.end_ns);
            }
        }
    }

    TEST_CASE(
        "a traced mutex excludes threads without a session, and while sessions start and stop") {
        traced_mutex<> mutex("mutex");
        traced_mutex<std::recursive_mutex> recursive("recursive");
        traced_mutex<std::shared_mutex> shared("shared");
        bool done = false;
        std::mutex ending;
        std::thread sessions([&] {
            for (;;) {
                {
                    const profile session({.all_threads = true});
                }
                const std::scoped_lock lock(ending);
                if (done) return;
            }
        });
        constexpr int threads = 3, turns = 3'000;
        CHECK(count_together(mutex, threads, turns) == threads * turns);
        CHECK(count_together(recursive, threads, turns) == threads * turns);
        CHECK(count_together(shared, threads, turns) == threads * turns);
        {
            const std::scoped_lock lock(ending);
            done = true;
        }
        sessions.join();
    }

    TEST_CASE("std::condition_variable_any waits with a traced mutex") {
        recording session;
        traced_mutex<> mutex("mutex");
        std::condition_variable_any changed;
        bool ready = false;
        std::thread other([&] {
            const std::scoped_lock lock(mutex);
            ready = true;
            changed.notify_one();
        });
        {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return ready; });
        }
        other.join();
        CHECK(ready);
    }
}

namespace {

std::atomic<bool> someone_waits{false};

struct telling_semaphore : std::counting_semaphore<> {
    using std::counting_semaphore<>::counting_semaphore;
    void acquire() {
        someone_waits = true;
        std::counting_semaphore<>::acquire();
    }
};

}  // namespace

TEST_SUITE("traced_semaphore") {
    TEST_CASE("only an acquisition of a semaphore that was not free at once becomes a wait") {
        recording session;
        traced_semaphore<std::counting_semaphore<4>> slots("slots", 2);
        slots.acquire();
        CHECK(slots.try_acquire());
        CHECK_FALSE(slots.try_acquire());
        CHECK_FALSE(slots.try_acquire_for(1ms));
        slots.release(2);
        CHECK(slots.try_acquire_until(std::chrono::steady_clock::now() + 1h));
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 1);
        const analysis::resource_wait& seen = found.trace.resource_waits[0];
        CHECK(found.trace.sites[seen.site].category == "semaphore");
        CHECK(seen.capacity == 2);
        CHECK(seen.gave_up);
        CHECK_FALSE(seen.holder_known);
    }

    TEST_CASE("a wait for a semaphore names the task that acquired it before and released it") {
        recording session;
        someone_waits = false;
        traced_semaphore<telling_semaphore> slots("slots", 2);
        sync_wait([](auto& given) -> task<> {
            given.acquire();
            CHECK(given.try_acquire());
            std::thread other([&] {
                given.acquire();
                given.release();
            });
            while (!someone_waits) std::this_thread::yield();
            given.release(2);
            other.join();
            co_return;
        }(slots));
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 1);
        const analysis::resource_wait& seen = found.trace.resource_waits[0];
        CHECK(seen.holder_known);
        CHECK(seen.holder_task != analysis::none);
        CHECK(seen.releaser_task == seen.holder_task);
        CHECK(seen.released_ns);
    }

    TEST_CASE("a traced semaphore admits no more threads than its count") {
        recording session;
        traced_semaphore<std::binary_semaphore> turn("turn", 1);
        long count = 0;
        const auto work = [&] {
            for (int each = 0; each < 2'000; ++each) {
                turn.acquire();
                ++count;
                turn.release();
            }
        };
        std::thread one(work), other(work);
        one.join();
        other.join();
        CHECK(count == 4'000);
    }
}
