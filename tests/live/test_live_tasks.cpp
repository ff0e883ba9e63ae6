// SPDX-License-Identifier: Apache-2.0

// The table of live tasks: the tasks that enter and leave it, and a full table.

#include <coroscope/async_stack.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "live_support.hpp"
#include "support/awaitables.hpp"
#include "support/executors.hpp"
#include "support/foreign.hpp"
#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using manual_task = foreign::manual<foreign::declared>;
constexpr std::uint64_t table_slots = 1U << 18;

manual_task waits(slot& place) { co_await suspend_into(place); }

manual_task waits_and_asks(slot& place, async_stack& stack) {
    co_await suspend_into(place);
    stack = current_async_stack();
}

task<int> child(thread_executor& pool, int value) {
    co_await pool.hop();
    co_return value;
}

// Checks that each stack that the task sees is its own: itself first, its awaiter second.
task<int> checks_itself(thread_executor& pool, std::atomic<int>& wrong) {
    const async_stack before = current_async_stack();
    int sum = 0;
    for (int round = 0; round < 4; ++round) sum += co_await child(pool, round);
    const async_stack after = current_async_stack();
    const bool right = before.size() == 2 && after.size() == 2 && before[0].task == after[0].task &&
                       before[1].task == after[1].task && function_of(after[1]) == "one_of_many";
    if (!right || sum != 6) ++wrong;
    co_return sum;
}

manual_task one_of_many(thread_executor& pool, std::atomic<int>& wrong, std::atomic<int>& done) {
    co_await pool.hop();
    co_await checks_itself(pool, wrong);
    ++done;
}

}  // namespace

TEST_SUITE("live tasks") {
    TEST_CASE("tasks are in the table from their spawn to their end") {
        const tracking on;
        CHECK(live_tasks().tasks == 0);
        slot place;
        {
            auto spawned = waits(place);
            CHECK(live_tasks().tasks == 1);
            spawned.resume();
            CHECK(live_tasks().tasks == 1);
            place.resume();
            CHECK(live_tasks().tasks == 0);
        }
        CHECK(live_tasks().tasks == 0);
        CHECK(live_tasks().no_room == 0);
    }

    TEST_CASE("frames that are destroyed while suspended, or never started, leave the table") {
        const tracking on;
        slot place;
        {
            auto suspended = waits(place);
            suspended.resume();
            const auto never_started = waits(place);
            CHECK(live_tasks().tasks == 2);
        }
        CHECK(live_tasks().tasks == 0);
        manual_executor executor;
        executor_adaptor adaptor(executor);
        adaptor.execute([] {});
        CHECK(live_tasks().tasks == 1);
        executor.clear();
        CHECK(live_tasks().tasks == 0);
    }

    TEST_CASE("a task that is older than the tracking enters the table at its next transition") {
        slot place;
        async_stack stack;
        auto older = waits_and_asks(place, stack);
        older.resume();
        const tracking on;
        CHECK(live_tasks().tasks == 0);
        place.resume();
        REQUIRE(stack.size() == 1);
        CHECK(function_of(stack[0]) == "waits_and_asks");
        CHECK(stack[0].state == async_state::running);
    }

    TEST_CASE(
        "tracking that is turned off and on again has forgotten the tasks that ended meanwhile") {
        slot place;
        track_live_tasks(true);
        auto ends_unseen = waits(place);
        ends_unseen.resume();
        CHECK(live_tasks().tasks == 1);
        track_live_tasks(false);
        CHECK_FALSE(live_tasks().tracked);
        place.resume();
        track_live_tasks(true);
        CHECK(live_tasks().tasks == 0);
        track_live_tasks(false);
    }

    TEST_CASE(
        "live tasks do not make scopes be recorded, and a session beside them loses nothing") {
        const tracking on;
        slot place;
        const auto body = [](slot& into) -> manual_task {
            COROSCOPE("scope");
            co_await suspend_into(into);
        };
        auto before = body(place);
        before.resume();
        place.resume();
        recording session;
        auto during = body(place);
        during.resume();
        place.resume();
        const recorded found = session.stop();
        CHECK(found.count("scope") == 1);
        auto afterwards = body(place);
        afterwards.resume();
        CHECK(live_tasks().tasks == 1);
    }

    TEST_CASE("tasks without room in the table are counted, and run as usual") {
        const tracking on;
        const std::uint64_t before = live_tasks().no_room;
        constexpr std::uint64_t too_many = 500;
        // The state in a coroutine's promise, of 64 bytes each, instead of a whole frame.
        const auto spawned = std::make_unique<detail::task_state[]>(table_slots + too_many);
        for (std::uint64_t index = 0; index < table_slots + too_many; ++index)
            detail::spawn_task(spawned[index], false);
        const std::uint64_t left_out = live_tasks().no_room - before;
        CHECK(left_out >= too_many);
        CHECK(live_tasks().tasks + left_out == table_slots + too_many);
        CHECK(left_out < table_slots / 100);
        {
            slot place;
            auto unseen = waits(place);
            unseen.resume();
            place.resume();
            CHECK(unseen.done());
        }
        for (std::uint64_t index = 0; index < table_slots + too_many; ++index)
            detail::destroy_task(spawned[index]);
        CHECK(live_tasks().tasks == 0);
    }

    TEST_CASE("64 threads with thousands of tasks see only their own stacks") {
        const tracking on;
        std::atomic<int> wrong{0};
        std::atomic<int> done{0};
        constexpr int count = 2000;
        {
            thread_executor pool(64);
            std::vector<manual_task> tasks;
            tasks.reserve(count);
            for (int index = 0; index < count; ++index) {
                tasks.push_back(one_of_many(pool, wrong, done));
                tasks.back().resume();
            }
            while (done.load() < count) std::this_thread::yield();
            pool.join();
        }
        CHECK(wrong == 0);
        CHECK(live_tasks().tasks == 0);
    }

    TEST_CASE("tracking may be turned on and off while many threads run tasks") {
        std::atomic<int> wrong{0};
        std::atomic<int> done{0};
        constexpr int count = 400;
        {
            thread_executor pool(8);
            std::vector<manual_task> tasks;
            tasks.reserve(count);
            for (int index = 0; index < count; ++index) {
                if (index % 10 == 0) track_live_tasks(index % 20 == 0);
                tasks.push_back(one_of_many(pool, wrong, done));
                tasks.back().resume();
            }
            while (done.load() < count) std::this_thread::yield();
            pool.join();
        }
        track_live_tasks(false);
        const tracking on;
        CHECK(live_tasks().tasks == 0);
    }

    TEST_CASE("a thread that ends while tasks are tracked takes its last tasks out of the table") {
        const tracking on;
        std::thread([] {
            static thread_local slot place;
            static thread_local auto kept = waits(place);
            kept.resume();
            CHECK(live_tasks().tasks == 1);
        }).join();
        CHECK(live_tasks().tasks == 0);
    }

    TEST_CASE("a forked child continues with its own tasks") {
        const tracking on;
        slot place;
        auto before = waits(place);
        before.resume();
        const pid_t self = ::fork();
        REQUIRE(self >= 0);
        if (self == 0) {
            async_stack stack;
            auto after = waits_and_asks(place, stack);
            place.resume();
            after.resume();
            place.resume();
            const bool right = stack.size() == 1 && live_tasks().tasks == 0 &&
                               stack[0].thread == static_cast<std::uint32_t>(::getpid());
            ::_exit(right ? 0 : 1);
        }
        int status = -1;
        REQUIRE(::waitpid(self, &status, 0) == self);
        CHECK(status == 0);
        CHECK(live_tasks().tasks == 1);
    }
}
