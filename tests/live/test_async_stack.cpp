// SPDX-License-Identifier: Apache-2.0

// The async stack of a task, across hops, jobs, fibers and foreign coroutines.

#include <coroscope/async_stack.hpp>
#include <coroscope/fiber.hpp>

#include <source_location>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "live_support.hpp"
#include "support/awaitables.hpp"
#include "support/executors.hpp"
#include "support/foreign.hpp"
#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using names = std::vector<std::string>;
using manual_task = foreign::manual<foreign::declared>;
template <class T>
using foreign_lazy = foreign::lazy<T, foreign::outside>;

struct seen_stack {
    async_stack stack;
    std::thread::id thread;
    std::uint32_t line = 0;  // the line of the await in `middle`
};

foreign_lazy<int> innermost(seen_stack& seen) {
    seen.stack = current_async_stack();
    seen.thread = std::this_thread::get_id();
    co_return 1;
}

task<int> middle(executor_adaptor<thread_executor&>& pool, seen_stack& seen) {
    co_await pool.schedule();
    seen.line = std::source_location::current().line() + 1;
    co_return co_await innermost(seen) + 1;
}

task<int> outer(executor_adaptor<thread_executor&>& pool, seen_stack& seen) {
    co_return co_await COROSCOPE_AWAIT("the middle one", middle(pool, seen)) + 1;
}

manual_task outermost(executor_adaptor<thread_executor&>& pool, seen_stack& seen, int& result) {
    result = co_await outer(pool, seen);
}

void run_chain(seen_stack& seen) {
    int result = 0;
    thread_executor threads;
    executor_adaptor pool(threads);
    auto root = outermost(pool, seen, result);
    root.resume();
    threads.join();
    CHECK(result == 3);
}

task<void> at_depth(int depth, async_stack& stack) {
    if (depth == 0) {
        stack = current_async_stack();
        co_return;
    }
    co_await at_depth(depth - 1, stack);
}

task<void> asks(async_stack& stack) {
    stack = current_async_stack();
    co_return;
}

task<void> calls_asks(async_stack& stack) { co_await asks(stack); }

manual_task spawned_by_another(slot& place, async_stack& stack) {
    co_await suspend_into(place);
    stack = current_async_stack();
}

manual_task spawns(slot& own, slot& others, std::vector<manual_task>& into, async_stack& stack) {
    into.push_back(spawned_by_another(others, stack));
    into.back().resume();
    co_await COROSCOPE_AWAIT("the spawner's own wait", suspend_into(own));
}

// Acts like a scheduler of fibers, on one stack.
manual_task stops_with_its_fiber(fiber_context& fiber, async_stack& outside, async_stack& back) {
    fiber.switch_out();
    outside = current_async_stack();
    fiber.switch_in();
    back = current_async_stack();
    co_return;
}

}  // namespace

TEST_SUITE("async stack") {
    TEST_CASE(
        "an async stack leads from a foreign coroutine over a hop and two tasks to the root") {
        const tracking on;
        seen_stack seen;
        run_chain(seen);
        CHECK(functions_of(seen.stack) == names{"innermost", "middle", "outer", "outermost"});
        CHECK(seen.thread != std::this_thread::get_id());
        CHECK(seen.stack.cut() == 0);
        CHECK(seen.stack.tracked());
        CHECK(seen.stack[0].state == async_state::running);
        for (std::size_t index = 1; index < seen.stack.size(); ++index) {
            INFO(index);
            CHECK(seen.stack[index].state == async_state::suspended);
            CHECK(seen.stack[index].age_ns >= 0);
            CHECK(std::string_view(seen.stack[index].spawn.file).ends_with("test_async_stack.cpp"));
        }
    }

    TEST_CASE("each task in the stack names its await, and the task that it awaits") {
        const tracking on;
        seen_stack seen;
        run_chain(seen);
        const async_frame& middle_frame = seen.stack[1];
        CHECK(middle_frame.await.line == seen.line);
        CHECK(std::string_view(middle_frame.await.label).find("co_await in") == 0);
        const async_frame& outer_frame = seen.stack[2];
        CHECK(std::string_view(outer_frame.await.label) == "the middle one");
        CHECK(outer_frame.awaits == middle_frame.task);
        CHECK(seen.stack[3].awaits == outer_frame.task);
    }

    TEST_CASE("a session that records, too, does not change the stack") {
        const tracking on;
        recording session;
        seen_stack seen;
        run_chain(seen);
        const recorded found = session.stop();
        CHECK(functions_of(seen.stack) == names{"innermost", "middle", "outer", "outermost"});
        for (const char* function : {"innermost", "middle", "outer", "outermost"}) {
            const analysis::task_info& task = found.task(function);
            check_sum(task, found.trace.duration_ns);
        }
    }

    TEST_CASE("a spawned task that is not awaited has its spawner above it") {
        const tracking on;
        slot own;
        slot others;
        std::vector<manual_task> spawned;
        async_stack stack;
        auto spawner = spawns(own, others, spawned, stack);
        spawner.resume();
        std::thread([&] { others.resume(); }).join();
        CHECK(functions_of(stack) == names{"spawned_by_another", "spawns"});
        CHECK(stack[1].awaits == 0);
        CHECK(std::string_view(stack[1].await.label) == "the spawner's own wait");
        const std::string text = text_of(stack);
        CHECK(text.find("parent of task " + std::to_string(stack[0].task)) != std::string::npos);
    }

    TEST_CASE("a spawner that has ended is shown by its number only") {
        const tracking on;
        slot own;
        slot others;
        std::vector<manual_task> spawned;
        async_stack stack;
        {
            auto spawner = spawns(own, others, spawned, stack);
            spawner.resume();
            own.resume();
        }
        others.resume();
        REQUIRE(stack.size() == 2);
        CHECK(stack[1].task != 0);
        CHECK(stack[1].state == async_state::unknown);
        CHECK(text_of(stack).find("not in the table") != std::string::npos);
    }

    TEST_CASE("frames beyond the room of the stack are counted") {
        const tracking on;
        async_stack stack;
        sync_wait(at_depth(100, stack));
        CHECK(stack.size() == async_stack::most_frames);
        CHECK(stack.cut() == 101 - async_stack::most_frames);
        CHECK(text_of(stack).ends_with("and 69 more\n"));
    }

    TEST_CASE("the text of a stack has one task a line, and is cut if there is no room") {
        const tracking on;
        async_stack stack;
        sync_wait(calls_asks(stack));
        const std::string text = text_of(stack);
        CHECK(std::count(text.begin(), text.end(), '\n') == 2);
        CHECK(text.starts_with("#0 task " + std::to_string(stack[0].task) + " "));
        CHECK(text.find("asks (") != std::string::npos);
        CHECK(text.find("test_async_stack.cpp:") != std::string::npos);
        CHECK(text.find("on thread " + std::to_string(::gettid())) != std::string::npos);
        CHECK(text.find("\n#1 task " + std::to_string(stack[1].task)) != std::string::npos);
        CHECK(text.find("suspended for ") != std::string::npos);
        CHECK(text.find(", awaits task " + std::to_string(stack[0].task) + "\n") !=
              std::string::npos);
        char small[16];
        CHECK(format(stack, small, sizeof small) == 15);
        CHECK(std::string(small) == text.substr(0, 15));
        CHECK(format(stack, nullptr, 0) == 0);
    }

    TEST_CASE("a job that resumes no task is a task of its own, below the task that posted it") {
        const tracking on;
        async_stack stack;
        const auto posts = [](async_stack& into) -> task<void> {
            manual_executor executor;
            executor_adaptor adaptor(executor);
            adaptor.execute([&into] { into = current_async_stack(); });
            executor.run();
            co_return;
        };
        sync_wait(posts(stack));
        REQUIRE(stack.size() == 2);
        CHECK(stack[0].state == async_state::running);
        CHECK(stack[1].state == async_state::running);
        CHECK(std::string_view(stack[0].spawn.file).ends_with("test_async_stack.cpp"));
    }

    TEST_CASE(
        "a coroutine on a fiber stops and continues with the fiber, and the fiber is above it") {
        const tracking on;
        async_stack outside;
        async_stack back;
        fiber_context fiber;
        fiber.switch_in();
        stops_with_its_fiber(fiber, outside, back).resume();
        CHECK(outside.empty());
        REQUIRE(back.size() == 2);
        CHECK(function_of(back[0]) == "stops_with_its_fiber");
        CHECK(back[0].state == async_state::running);
        CHECK(back[1].state == async_state::running);
        CHECK(std::string_view(back[1].await.file).ends_with("test_async_stack.cpp"));
        fiber.finish();
        CHECK(live_tasks().tasks == 0);
    }

    TEST_CASE("outside tasks the stack is empty, and its text says so") {
        const tracking on;
        CHECK(current_async_stack().empty());
        CHECK(text_of(current_async_stack()) == "no task runs on this thread\n");
    }

    TEST_CASE("without tracking the stack is the current task alone, and its text says how to turn "
              "tracking on") {
        async_stack stack;
        sync_wait(calls_asks(stack));
        CHECK_FALSE(stack.tracked());
        CHECK(text_of(stack).find("COROSCOPE_LIVE=1") != std::string::npos);
        recording session;
        sync_wait(calls_asks(stack));
        session.stop();
        CHECK(functions_of(stack) == names{"asks"});
        CHECK(text_of(stack).find("track_live_tasks(true)") != std::string::npos);
    }
}
