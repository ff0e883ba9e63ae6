// SPDX-License-Identifier: Apache-2.0

// A session of all threads records when threads were on a processor, preempted, or waiting.

#include <coroscope/profile.hpp>
#include <coroscope/record_function.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

#include "../../support/skip.hpp"
#include "kernel_facts.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t millisecond = 1'000'000;

profile_options all_threads() { return {.all_threads = true}; }

std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch() / 1ns;  // CLOCK_MONOTONIC
}

// Facts of switches, or none and a message: the machine may refuse them.
bool has_switches(const kernel_facts& facts) {
    if (facts.source() == trace::thread_state_source::switches) return true;
    COROSCOPE_SKIP("no switches here: " + facts.message());
    return false;
}

bool has_source(const kernel_facts& facts) {
    if (facts.source() == trace::thread_state_source::switches ||
        facts.source() == trace::thread_state_source::samples)
        return true;
    COROSCOPE_SKIP("no states of threads here: " + facts.message());
    return false;
}

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// A look at the thread while it waited for the lock.
void check_wait(const kernel_facts& facts, std::uint32_t waiter, const void* lock,
                std::uint32_t holder, trace::blocked_lock kind) {
    const auto address = reinterpret_cast<std::uintptr_t>(lock);
    REQUIRE(facts.blocked.count(waiter) == 1);
    const auto& looks = facts.blocked.at(waiter);
    const auto look = std::find_if(looks.begin(), looks.end(), [&](const blocked_fact& each) {
        return each.what.address >= address && each.what.address < address + 16;
    });
    REQUIRE(look != looks.end());
    CHECK(look->what.call == SYS_futex);
    CHECK(look->what.holder == holder);
    CHECK(look->what.lock == static_cast<std::uint32_t>(kind));
    CHECK(look->what.descriptor == 0);
}

profile_options in_small_trace(overflow policy) {
    profile_options options = all_threads();
    options.policy = policy;
    options.chunk_bytes = 4096;
    options.limit_bytes = 4096 + 32 * options.chunk_bytes;
    return options;
}

void sleep() { std::this_thread::sleep_for(10us); }

void sleep_in_scope() {
    const record_function scope("work");
    sleep();
}

void repeat(void (*work)(), std::chrono::milliseconds time) {
    const std::int64_t end = now_ns() + time / 1ns;
    while (now_ns() < end) work();
}

bool alternates(const std::vector<switch_fact>& switches) {
    for (std::size_t at = 1; at < switches.size(); ++at)
        if (switches[at].entered == switches[at - 1].entered) return false;
    return true;
}

}  // namespace

TEST_SUITE("thread states") {
    TEST_CASE("a sleep is time off the processor, and not preempted") {
        std::uint32_t sleeper = 0;
        std::vector<std::int64_t> begins;
        const auto record = [&](std::chrono::milliseconds time) {
            profile session(all_threads());
            begins.clear();
            std::thread([&] {
                sleeper = this_thread_id();
                for (auto left = 2 * time; left > 0ms; left -= 10ms) {
                    begins.push_back(now_ns());
                    std::this_thread::sleep_for(10ms);
                }
            }).join();
            return facts_of(session.stop());
        };
        const auto count_known = [&](const kernel_facts& facts) {
            const auto found = facts.switches.find(sleeper);
            if (found == facts.switches.end()) return std::ptrdiff_t{0};
            const std::int64_t first = found->second.front().time_ns;
            return std::count_if(begins.begin(), begins.end(),
                                 [=](std::int64_t begin) { return begin >= first; });
        };
        const kernel_facts facts = record_until(record, count_known);
        if (!has_switches(facts)) return;
        const std::ptrdiff_t known = count_known(facts);
        REQUIRE(known > 0);
        CHECK(facts.off_ns(sleeper, false) >= known * 10 * millisecond);
        CHECK(alternates(facts.switches.at(sleeper)));
        CHECK(facts.lost.empty());
    }

    TEST_CASE("threads from before the session are followed, and those that they start") {
        std::uint32_t older = 0, younger = 0;
        const auto record = [&](std::chrono::milliseconds time) {
            std::atomic<int> stage{0};
            std::thread before([&] {
                older = this_thread_id();
                stage = 1;
                stage.notify_all();
                stage.wait(1);
                std::this_thread::sleep_for(time);
                std::thread([&] {
                    younger = this_thread_id();
                    std::this_thread::sleep_for(20ms);
                }).join();
            });
            stage.wait(0);
            profile session(all_threads());
            stage = 2;
            stage.notify_all();
            before.join();
            return facts_of(session.stop());
        };
        const kernel_facts facts = record_until(record, [&](const kernel_facts& made) {
            return made.times.count(older) == 1 && made.switches.count(younger) == 1 &&
                   made.switches.at(younger).front().created;
        });
        if (!has_switches(facts)) return;
        CHECK(facts.off_ns(older, false) >= 20 * millisecond);  // until the younger one ended
        CHECK(facts.off_ns(younger, false) >= 20 * millisecond);
        CHECK(alternates(facts.switches.at(younger)));
        CHECK(facts.times.count(older) == 1);
    }

    TEST_CASE("the creation of a thread is recorded, and sums from after its waits") {
        std::uint32_t thread = 0;
        const auto record = [&thread](std::chrono::milliseconds time) {
            profile session(all_threads());
            std::thread([&] {
                thread = this_thread_id();
                std::this_thread::sleep_for(1ms);
                const std::int64_t end = now_ns() + time / 1ns;
                while (now_ns() < end) continue;
            }).join();
            return facts_of(session.stop());
        };
        const kernel_facts facts = record_until(record, [&thread](const kernel_facts& made) {
            return made.times.count(thread) == 1 && made.switches.count(thread) == 1 &&
                   made.switches.at(thread).front().created;
        });
        if (!has_switches(facts)) return;
        const std::vector<switch_fact>& switches = facts.switches.at(thread);
        CHECK(switches.front().created);
        CHECK(std::count_if(switches.begin(), switches.end(),
                            [](const switch_fact& each) { return each.created; }) == 1);
        REQUIRE(facts.times.count(thread) == 1);
        const auto wait = std::find_if(switches.begin(), switches.end(), [](const auto& each) {
            return !each.entered && !each.preempted;
        });
        REQUIRE(wait != switches.end());
        CHECK(facts.times.at(thread).back().time_ns > wait->time_ns);
    }

    TEST_CASE("a mutex held over a sleep gives the waiter's call, the lock and its holder") {
        std::mutex lock;
        const recorded_waits made = record_until_seen(
            [&lock](std::chrono::milliseconds time) { return record_wait(lock, time); });
        const kernel_facts& facts = made.facts;
        if (!has_source(facts)) return;
        check_wait(facts, made.waiters.front(), &lock, this_thread_id(),
                   trace::blocked_lock::mutex);
    }

    TEST_CASE("readers and writers that wait for a writer of a rwlock name it") {
        std::shared_mutex lock;
        const std::uint32_t holder = this_thread_id();
        std::uint32_t reader = 0, writer = 0;
        const recorded_waits made = record_until_seen([&](std::chrono::milliseconds time) {
            profile session(all_threads());
            std::thread reads, writes;
            {
                const std::lock_guard held(lock);
                reads = std::thread([&] {
                    reader = this_thread_id();
                    const std::shared_lock guard(lock);
                });
                writes = std::thread([&] {
                    writer = this_thread_id();
                    const std::lock_guard guard(lock);
                });
                std::this_thread::sleep_for(time);
            }
            reads.join();
            writes.join();
            return recorded_waits{facts_of(session.stop()), {reader, writer}};
        });
        const kernel_facts& facts = made.facts;
        if (!has_source(facts)) return;
        for (const std::uint32_t waiter : {reader, writer})
            check_wait(facts, waiter, &lock, holder, trace::blocked_lock::rwlock_writer);
    }

    TEST_CASE("a condition variable and a semaphore have no holder") {
        std::uint32_t first = 0, second = 0;
        const recorded_waits made = record_until_seen([&](std::chrono::milliseconds time) {
            profile session(all_threads());
            std::mutex lock;
            std::condition_variable changed;
            std::counting_semaphore<> count(0);
            bool is_over = false;
            std::thread sleeps([&] {
                first = this_thread_id();
                std::unique_lock guard(lock);
                changed.wait(guard, [&] { return is_over; });
            });
            std::thread takes([&] {
                second = this_thread_id();
                count.acquire();
            });
            std::this_thread::sleep_for(time);
            {
                const std::lock_guard guard(lock);
                is_over = true;
            }
            changed.notify_all();
            count.release();
            sleeps.join();
            takes.join();
            return recorded_waits{facts_of(session.stop()), {first, second}};
        });
        const kernel_facts& facts = made.facts;
        if (!has_source(facts)) return;
        for (const std::uint32_t thread : {first, second}) {
            REQUIRE(facts.blocked.count(thread) == 1);
            for (const blocked_fact& each : facts.blocked.at(thread)) {
                CHECK(each.what.holder == 0);
                CHECK(each.what.call == SYS_futex);
            }
        }
    }

    TEST_CASE("a read from a pipe names the call and the descriptor") {
        int ends[2];
        std::uint32_t reader = 0;
        const recorded_waits made = record_until_seen([&](std::chrono::milliseconds time) {
            profile session(all_threads());
            REQUIRE(::pipe(ends) == 0);
            std::thread reads([&] {
                reader = this_thread_id();
                char byte = 0;
                CHECK(::read(ends[0], &byte, 1) == 1);
            });
            std::this_thread::sleep_for(time);
            CHECK(::write(ends[1], "x", 1) == 1);
            reads.join();
            ::close(ends[0]);
            ::close(ends[1]);
            return recorded_waits{facts_of(session.stop()), {reader}};
        });
        const kernel_facts& facts = made.facts;
        if (!has_source(facts)) return;
        REQUIRE(facts.blocked.count(reader) == 1);
        const auto& looks = facts.blocked.at(reader);
        const auto read = std::find_if(looks.begin(), looks.end(), [](const blocked_fact& each) {
            return each.what.call == SYS_read;
        });
        REQUIRE(read != looks.end());
        CHECK(read->what.descriptor == static_cast<std::uint64_t>(ends[0]) + 1);
        CHECK(read->what.address == 0);
        CHECK(read->what.since_ns <= read->time_ns);
    }

    TEST_CASE("one long wait is looked at once") {
        std::uint32_t sleeper = 0;
        std::int64_t begin = 0;
        const recorded_waits made = record_until_seen([&](std::chrono::milliseconds time) {
            profile session(all_threads());
            std::thread([&] {
                sleeper = this_thread_id();
                begin = now_ns();
                std::this_thread::sleep_for(time);
            }).join();
            return recorded_waits{facts_of(session.stop()), {sleeper}};
        });
        const kernel_facts& facts = made.facts;
        if (!has_source(facts)) return;
        REQUIRE(facts.blocked.count(sleeper) == 1);
        const auto& looks = facts.blocked.at(sleeper);
        CHECK(std::count_if(looks.begin(), looks.end(),
                            [=](const blocked_fact& each) { return each.time_ns > begin; }) <= 1);
    }

    TEST_CASE("the descriptors of the program do not change") {
        const std::size_t before = open_descriptors();
        profile session(all_threads());
        std::this_thread::sleep_for(50ms);
        CHECK(open_descriptors() == before);
        session.stop();
        CHECK(open_descriptors() == before);
    }

    TEST_CASE("the sums of a thread grow, and the session's start and stop have them") {
        const std::uint32_t thread = this_thread_id();
        const auto record = [](std::chrono::milliseconds time) {
            profile session(all_threads());
            const std::int64_t end = now_ns() + time / 1ns;
            while (now_ns() < end) continue;
            std::this_thread::sleep_for(time);
            return facts_of(session.stop());
        };
        const kernel_facts facts = record_until(record, [thread](const kernel_facts& made) {
            return made.times.count(thread) == 1 && made.times.at(thread).size() >= 2;
        });
        CHECK(facts.header.processors >= 1);
        if (!has_source(facts)) return;
        const auto& times = facts.times.at(thread);
        REQUIRE(times.size() >= 2);
        for (std::size_t at = 1; at < times.size(); ++at) {
            CHECK(times[at].time_ns >= times[at - 1].time_ns);
            CHECK(times[at].sums.on_cpu_ns >= times[at - 1].sums.on_cpu_ns);
            CHECK(times[at].sums.stretches >= times[at - 1].sums.stretches);
        }
    }

    TEST_CASE("a flight recorder goes on and keeps the newest facts") {
        std::uint32_t thread = 0;
        std::int64_t late_ns = 0;
        const auto record = [&](std::chrono::milliseconds time) {
            profile session(in_small_trace(overflow::overwrite_oldest));
            std::thread([&] {
                thread = this_thread_id();
                repeat(sleep_in_scope, time * 11 / 12);
                late_ns = now_ns();
                repeat(sleep_in_scope, time / 12);
            }).join();
            return facts_of(session.stop());
        };
        const kernel_facts facts = record_until(record, [&](const kernel_facts& made) {
            return made.chunks > 1 && made.switches.count(thread) == 1 &&
                   made.switches.at(thread).back().time_ns > late_ns;
        });
        if (!has_switches(facts)) return;
        CHECK(facts.chunks > 1);
        CHECK(facts.header.lost_records == 0);
        REQUIRE(facts.switches.count(thread) == 1);
        CHECK(facts.switches.at(thread).back().time_ns > late_ns);
    }

    TEST_CASE(
        "facts take at most a quarter of a trace that drops, and say that they were dropped") {
        const auto record = [](std::chrono::milliseconds time) {
            profile session(in_small_trace(overflow::drop_newest));
            std::thread([time] { repeat(sleep, 4 * time); }).join();
            return facts_of(session.stop());
        };
        const kernel_facts facts =
            record_until(record, [](const kernel_facts& made) { return !made.lost.empty(); });
        if (!has_switches(facts)) return;
        CHECK(facts.chunks <= 8);
        REQUIRE_FALSE(facts.lost.empty());
        CHECK(facts.lost.back().count > 0);
        CHECK(facts.header.lost_records == 0);
    }

    TEST_CASE("a trace without room for states says so") {
        profile_options options = all_threads();
        options.chunk_bytes = 4096;
        options.limit_bytes = 4096 + 3 * options.chunk_bytes;
        profile session(options);
        std::this_thread::sleep_for(20ms);
        const kernel_facts facts = facts_of(session.stop());
        CHECK(facts.source() == trace::thread_state_source::refused);
        CHECK_FALSE(facts.message().empty());
        CHECK(facts.chunks == 0);
    }

    TEST_CASE("the option leaves facts and thread out") {
        for (const bool on : {true, false}) {
            profile_options options = all_threads();
            options.thread_states = on;
            profile session(options);
            std::this_thread::sleep_for(20ms);
            const kernel_facts facts = facts_of(session.stop());
            if (!on) CHECK(facts.source() == trace::thread_state_source::none);
            if (!on) CHECK(facts.chunks == 0);
            if (on) CHECK(facts.source() != trace::thread_state_source::none);
        }
    }

    TEST_CASE("a session of one thread has none") {
        profile session;
        std::this_thread::sleep_for(10ms);
        const kernel_facts facts = facts_of(session.stop());
        CHECK(facts.source() == trace::thread_state_source::none);
        CHECK(facts.chunks == 0);
    }
}
