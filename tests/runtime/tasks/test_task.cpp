// SPDX-License-Identifier: Apache-2.0

// task<T> and sync_wait: arguments and results, lifetimes, depth, and the records of the profiler.

#include <coroscope/task.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../support/skip.hpp"
#include "../support/awaitables.hpp"
#include "../support/build.hpp"
#include "../support/executors.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

task<int> number(int value) { co_return value; }
task<int&> reference_to(int& value) { co_return value; }
task<const std::string&> constant_reference(const std::string& text) { co_return text; }
task<std::unique_ptr<int>> owner(int value) { co_return std::make_unique<int>(value); }
task<std::pair<int, std::string>> braced() { co_return {3, "three"}; }
task<std::string> from_literal() { co_return "converted"; }
task<> nothing(bool& ran) {
    ran = true;
    co_return;
}
task<int> fails() {
    throw std::runtime_error("left the task");
    co_return 1;
}
struct counted {
    explicit counted(int& live) : live_(&live) { ++live; }
    counted(counted&& other) noexcept : live_(other.live_) { ++*live_; }
    counted& operator=(counted&&) = delete;
    ~counted() { --*live_; }

private:
    int* live_;
};
task<counted> make_counted(int& live) { co_return counted(live); }

struct throws_at_its_end {
    ~throws_at_its_end() noexcept(false) { throw std::runtime_error("from a destructor"); }
};
task<counted> fails_after_its_result(int& live) {
    const throws_at_its_end local;
    co_return counted(live);
}
task<counted> returns_again(int& live) {
    try {
        const throws_at_its_end local;
        co_return counted(live);
    } catch (const std::runtime_error&) {  // another result is returned below
    }
    co_return counted(live);
}

task<> holds(counted, slot& into) { co_await suspend_into(into); }
task<> awaits_holder(counted value, slot& into) { co_await holds(std::move(value), into); }

task<int> awaits_both_ways() {
    task<int> named = number(1);
    const int first = co_await named;
    co_return first + co_await number(2);
}

task<int> awaits_with_label() {
    const int first = co_await COROSCOPE_AWAIT("by name", number(1));
    co_return first + co_await number(2);
}

task<int> sum_to(int depth) {
    COROSCOPE_FUNCTION();
    if (depth == 0) co_return 0;
    co_return depth + co_await sum_to(depth - 1);
}

task<long> add_up(int times) {
    long sum = 0;
    for (int each = 0; each < times; ++each) sum += co_await number(1);
    co_return sum;
}

task<int> hops(thread_executor& executor) {
    co_await executor.hop();
    co_return 5;
}

task<> parent_of_two() {
    COROSCOPE("parent scope");
    co_await number(1);
    bool ran = false;
    co_await nothing(ran);
}

// An awaiter of another library that transfers to a task.
class stranger {
public:
    explicit stranger(task<int>& work) noexcept : inner_(work.operator co_await()) {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) const noexcept {
        return inner_.await_suspend(waiter);
    }
    int await_resume() const { return inner_.await_resume(); }

private:
    detail::task_awaiter<int> inner_;
};
task<int> number_in_scope(int value) {
    COROSCOPE("in the child");
    co_return value;
}
task<int> awaits_by_stranger() {
    COROSCOPE("around the child");
    task<int> work = number_in_scope(6);
    co_return co_await stranger(work) + 1;
}

task<int> catches() {
    COROSCOPE("around failure");
    try {
        co_return co_await fails();
    } catch (const std::runtime_error& error) {
        co_return std::string(error.what()) == "left the task" ? 2 : 0;
    }
}

}  // namespace

TEST_SUITE("task") {
    TEST_CASE("a task returns values, references, move-only values, and nothing") {
        CHECK(sync_wait(number(3)) == 3);
        int value = 1;
        static_assert(std::is_same_v<decltype(sync_wait(reference_to(value))), int&>);
        CHECK(&sync_wait(reference_to(value)) == &value);
        const std::string text = "text";
        CHECK(&sync_wait(constant_reference(text)) == &text);
        CHECK(*sync_wait(owner(4)) == 4);
        CHECK(sync_wait(braced()).second == "three");
        CHECK(sync_wait(from_literal()) == "converted");
        bool ran = false;
        sync_wait(nothing(ran));
        CHECK(ran);
    }

    TEST_CASE("an exception that leaves a task reaches its awaiter") {
        CHECK_THROWS_WITH_AS(sync_wait(fails()), "left the task", std::runtime_error);
        CHECK(sync_wait(catches()) == 2);
    }

    TEST_CASE("a result is destroyed once") {
        int live = 0;
        {
            const counted result = sync_wait(make_counted(live));
            CHECK(live == 1);
        }
        CHECK(live == 0);
        {
            const task<counted> never = make_counted(live);
        }
        CHECK(live == 0);
    }

    TEST_CASE("a result is destroyed if an exception leaves its task afterwards, or another result "
              "replaces it") {
        int live = 0;
        CHECK_THROWS_WITH_AS(sync_wait(fails_after_its_result(live)), "from a destructor",
                             std::runtime_error);
        CHECK(live == 0);
        sync_wait(returns_again(live));
        CHECK(live == 0);
    }

    TEST_CASE("a task may be awaited as an lvalue and as an rvalue") {
        task<int> both = number(6);
        CHECK(sync_wait(both) == 6);
        CHECK(sync_wait(number(7)) == 7);
    }

    TEST_CASE("sync_wait blocks until the task has ended on another thread") {
        thread_executor executor;
        CHECK(sync_wait(hops(executor)) == 5);
    }

    TEST_CASE("after a task's moves there is one owner") {
        task<int> first = number(1);
        task<int> second = std::move(first);
        CHECK_FALSE(
            first.valid());  // NOLINT(bugprone-use-after-move): the moved-from state is specified
        REQUIRE(second.valid());
        second = number(2);
        CHECK_FALSE(second.done());
        CHECK(sync_wait(second) == 2);
        CHECK(second.done());
    }

    TEST_CASE("a task that is destroyed before it starts shows as cancelled") {
        recording session;
        int live = 0;
        slot into;
        {
            const task<> never = holds(counted(live), into);
            CHECK(live == 1);
        }
        CHECK(live == 0);
        const recorded found = session.stop();
        CHECK(found.task("holds").state == analysis::task_state::cancelled);
        CHECK(found.task("holds").slices.empty());
    }

    TEST_CASE("tasks that are destroyed while suspended show as abandoned, and free the objects in "
              "their frames") {
        recording session;
        int live = 0;
        slot into;
        {
            auto awaited = awaits_holder(counted(live), into);
            auto awaiter = awaited.operator co_await();
            awaiter.await_suspend(std::noop_coroutine()).resume();
            CHECK(live > 0);
            CHECK(into.waiter);
        }
        CHECK(live == 0);
        const recorded found = session.stop();
        CHECK(found.task("holds").state == analysis::task_state::abandoned);
        CHECK(found.task("awaits_holder").state == analysis::task_state::abandoned);
    }

    TEST_CASE("a child's parent and awaiter are the task that makes and awaits it") {
        recording session;
        sync_wait(parent_of_two());
        const recorded found = session.stop();
        const std::uint32_t parent = found.task_index("parent_of_two");
        for (const char* child : {"number", "nothing"}) {
            CHECK(found.task(child).parent == parent);
            CHECK(found.task(child).awaiter == parent);
            CHECK(found.task(child).state == analysis::task_state::finished);
        }
        CHECK(found.trace.tasks[parent].parent == analysis::none);
        CHECK(found.trace.tasks[parent].awaiter == analysis::none);
    }

    TEST_CASE(
        "while a child runs, its awaiter is suspended, and no moment is lost or counted twice") {
        recording session;
        sync_wait(parent_of_two());
        const recorded found = session.stop();
        const auto& parent = found.task("parent_of_two");
        CHECK(parent.slices.size() == 3);
        const auto awaits = found.awaits(parent);
        REQUIRE(awaits.size() == 2);
        CHECK(awaits[0].awaited == found.task_index("number"));
        CHECK(awaits[1].awaited == found.task_index("nothing"));
        const std::int64_t children =
            found.task("number").time.running_ns + found.task("nothing").time.running_ns;
        CHECK(parent.time.suspended_ns == children);
        CHECK(parent.time.queued_ns == 0);
        CHECK(parent.time.waiting_ns == 0);
        for (const auto& each : found.trace.tasks) check_sum(each, found.trace.duration_ns);
        const auto& scope = found.event("parent scope");
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.split(scope).suspended_ns == children);
    }

    TEST_CASE("a task that a foreign awaiter resumes is recorded as itself") {
        recording session;
        CHECK(sync_wait(awaits_by_stranger()) == 7);
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        const auto& child = found.task("number_in_scope");
        REQUIRE(child.slices.size() == 1);
        CHECK(child.state == analysis::task_state::finished);
        CHECK(found.event("in the child").task == found.task_index("number_in_scope"));
        const auto& parent = found.task("awaits_by_stranger");
        REQUIRE(parent.slices.size() == 2);
        CHECK(parent.state == analysis::task_state::finished);
        const analysis::slice& between = found.trace.slices[child.slices.front()];
        CHECK(found.trace.slices[parent.slices.front()].end_ns <= between.start_ns);
        CHECK(between.end_ns <= found.trace.slices[parent.slices.back()].start_ns);
        for (const auto& each : found.trace.tasks) check_sum(each, found.trace.duration_ns);
    }

    TEST_CASE("a label names one await of a task, and the next await has its default name") {
        recording session;
        CHECK(sync_wait(awaits_with_label()) == 3);
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("awaits_with_label"));
        REQUIRE(awaits.size() == 2);
        CHECK(found.site_label(awaits[0].site) == "by name");
        CHECK(found.site_label(awaits[1].site).find("awaits_with_label") != std::string::npos);
    }

    TEST_CASE("each await names its own line") {
        recording session;
        sync_wait(awaits_both_ways());
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("awaits_both_ways"));
        REQUIRE(awaits.size() >= 2);
        CHECK(found.site_line(awaits[1].site) == found.site_line(awaits[0].site) + 1);
        CHECK(found.site_label(awaits[0].site).find("awaits_both_ways") != std::string::npos);
    }

    TEST_CASE("a task that an exception leaves shows as failed, and its awaiter that catches it as "
              "finished") {
        recording session;
        CHECK(sync_wait(catches()) == 2);
        const recorded found = session.stop();
        CHECK(found.task("fails").state == analysis::task_state::failed);
        CHECK(found.task("catches").state == analysis::task_state::finished);
    }

    TEST_CASE("a deep recursion gives each frame its own task and scope") {
        const int depth = 200;
        recording session;
        CHECK(sync_wait(sum_to(depth)) == depth * (depth + 1) / 2);
        const recorded found = session.stop();
        const auto tasks = found.tasks("sum_to");
        const auto scopes = found.events("sum_to");
        REQUIRE(tasks.size() == depth + 1);
        REQUIRE(scopes.size() == depth + 1);
        for (std::size_t at = 0; at < tasks.size(); ++at) CHECK(scopes[at]->task == tasks[at]);
        for (std::size_t at = 1; at < tasks.size(); ++at)
            CHECK(found.trace.tasks[tasks[at]].awaiter == tasks[at - 1]);
    }

    TEST_CASE("a million awaits in a loop need no more stack than one") {
        if (!symmetric_transfer_is_a_tail_call) {
            COROSCOPE_SKIP("this build does not make symmetric transfer a tail call");
            return;
        }
        CHECK(sync_wait(add_up(1'000'000)) == 1'000'000);
        recording session({.all_threads = true, .limit_bytes = 1U << 20});
        CHECK(sync_wait(add_up(1'000'000)) == 1'000'000);
    }
}
