// SPDX-License-Identifier: Apache-2.0

// How the awaits of recorded coroutines ended, the size of their frames, and the end of the service.

#include <coroscope/task.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>

#include <coroscope/trace/reader.hpp>

#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
using trace::await_outcome;

namespace {

/// Suspends until the test resumes it; then await_resume() returns or throws.
struct gate_awaiter {
    std::coroutine_handle<>* into;
    bool fails;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const noexcept { *into = waiter; }
    int await_resume() const {
        if (fails) throw std::runtime_error("refused");
        return 3;
    }
};

struct started {
    struct own_promise {
        started get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
    using promise_type = instrumented<own_promise>;
};

started waits_twice(std::coroutine_handle<>& into) {
    try {
        co_await gate_awaiter{&into, true};
    } catch (const std::runtime_error&) {
    }
    co_await gate_awaiter{&into, false};
    co_await gate_awaiter{&into, false};
}

task<int> child(bool fails) {
    if (fails) throw std::runtime_error("child");
    co_return 1;
}
task<int> parent() {
    int sum = 0;
    try {
        sum += co_await child(true);
    } catch (const std::runtime_error&) {
    }
    sum += co_await child(false);
    co_return sum;
}

started waits_often(std::coroutine_handle<>& into, int times) {
    for (int each = 0; each < times; ++each) co_await gate_awaiter{&into, false};
}

/// The number of records of each kind in chunks of records.
std::array<std::size_t, 32> count_records(const trace::buffer& bytes) {
    std::array<std::size_t, 32> counts{};
    const auto read = trace::reader::open(bytes);
    REQUIRE(read);
    for (const trace::chunk_view& chunk : read->chunks())
        if (chunk.header.kind == trace::chunk_kind::records)
            trace::for_each_record(chunk, [&counts](const trace::record_view& record) {
                ++counts[static_cast<std::size_t>(record.kind())];
            });
    return counts;
}

void resume(std::coroutine_handle<>& waiter) { std::exchange(waiter, nullptr).resume(); }

}  // namespace

TEST_SUITE("outcomes of awaits") {
    TEST_CASE("an await ends with a value, or with the exception that leaves await_resume") {
        recording session;
        std::coroutine_handle<> waiter;
        waits_twice(waiter);
        for (int round = 0; round < 3; ++round) resume(waiter);
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("waits_twice"));
        REQUIRE(awaits.size() == 3);
        CHECK(awaits[0].outcome == await_outcome::exception);
        CHECK(awaits[1].outcome == await_outcome::value);
        CHECK(awaits[2].outcome == await_outcome::value);
        CHECK_FALSE(found.task("waits_twice").losses);
    }

    TEST_CASE("the exception of an awaited task is the outcome of its await") {
        recording session;
        CHECK(sync_wait(parent()) == 1);
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("parent"));
        REQUIRE(awaits.size() == 2);
        CHECK(awaits[0].outcome == await_outcome::exception);
        CHECK(awaits[1].outcome == await_outcome::value);
    }

    TEST_CASE("an await that never ended has no outcome until its coroutine is destroyed") {
        recording session;
        std::coroutine_handle<> waiter;
        std::coroutine_handle<> left;
        waits_twice(waiter);
        waits_twice(left);
        waiter.destroy();
        const recorded found = session.stop();
        const auto tasks = found.tasks("waits_twice");
        REQUIRE(tasks.size() == 2);
        const auto destroyed = found.awaits(found.trace.tasks[tasks[0]]);
        REQUIRE(destroyed.size() == 1);
        CHECK(destroyed[0].outcome == await_outcome::cancelled);
        const auto open = found.awaits(found.trace.tasks[tasks[1]]);
        REQUIRE(open.size() == 1);
        CHECK(open[0].outcome == await_outcome::unknown);
        left.destroy();
    }

    TEST_CASE("coroutines destroyed behind end_of_service() ended with the service") {
        recording session;
        std::coroutine_handle<> before;
        std::coroutine_handle<> behind;
        waits_twice(before);
        waits_twice(behind);
        before.destroy();
        end_of_service();
        behind.destroy();
        const recorded found = session.stop();
        const auto tasks = found.tasks("waits_twice");
        REQUIRE(tasks.size() == 2);
        CHECK(found.trace.tasks[tasks[0]].state == analysis::task_state::abandoned);
        CHECK(found.trace.tasks[tasks[1]].state == analysis::task_state::ended_with_service);
    }

    TEST_CASE("end_of_service() does nothing if no session records") {
        end_of_service();
        recording session;
        CHECK(session.stop().trace.tasks.empty());
    }

    TEST_CASE("the site of a coroutine has the size of its frame") {
        recording session;
        CHECK(sync_wait(child(false)) == 1);
        const recorded found = session.stop();
        const std::uint32_t site = found.task("child").spawn_site;
        REQUIRE(site != analysis::none);
        CHECK(found.trace.sites[site].frame_bytes >= 64);
        CHECK(found.trace.sites[site].frame_bytes % 64 == 0);
    }

    TEST_CASE("an await of a coroutine that no task resumed takes two records of 16 bytes") {
        constexpr int rounds = 100;
        profile session({.all_threads = true, .thread_states = false});
        std::coroutine_handle<> waiter;
        waits_often(waiter, rounds);
        for (int round = 0; round < rounds; ++round) resume(waiter);
        const trace::buffer bytes = session.stop();
        const recorded found = load(bytes);
        CHECK(found.awaits(found.task("waits_often")).size() == rounds);
        CHECK_FALSE(found.task("waits_often").losses);
        if (found.trace.clock == "monotonic") {
            MESSAGE("SKIP: short records need the processor's counter as the clock");
            return;
        }
        const auto counts = count_records(bytes);
        const auto of = [&counts](trace::record_kind kind) {
            return counts[static_cast<std::size_t>(kind)];
        };
        // The first suspension looks its site up, in the long form.
        CHECK(of(trace::record_kind::plain_await) >= 2 * rounds - 2);
        CHECK(of(trace::record_kind::suspend) + of(trace::record_kind::resume) <= 2);
    }

    TEST_CASE("a thread that resumed a coroutine runs no task behind its suspension") {
        recording session;
        std::coroutine_handle<> waiter;
        waits_often(waiter, 2);
        for (int round = 0; round < 2; ++round) {
            COROSCOPE("resumer");
            resume(waiter);
            COROSCOPE("behind");
        }
        const recorded found = session.stop();
        for (const auto* each : found.events("behind")) CHECK(each->task == analysis::none);
        CHECK(found.task("waits_often").state == analysis::task_state::finished);
    }
}
