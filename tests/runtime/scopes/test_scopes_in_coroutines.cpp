// SPDX-License-Identifier: Apache-2.0

// Scopes that live in coroutine frames: across suspensions, threads, and other coroutines.

#include <coroscope/coroscope.hpp>

#include <chrono>
#include <optional>
#include <thread>

#include "../support/awaitables.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

using foreign::manual;

// Not inline: clang would put the frame of a plain coroutine onto the stack, and its scope would
// look like the scope of a call.
template <class Way>
[[gnu::noinline]] manual<Way> two_pauses(slot& into) {
    COROSCOPE("across two pauses");
    co_await suspend_into(into);
    {
        COROSCOPE("between pauses");
        spin(50us);
    }
    co_await suspend_into(into);
}

template <class Way>
manual<Way> hops_once(thread_executor& there, std::atomic<bool>& done) {
    {
        COROSCOPE("hop");
        spin(50us);
        co_await there.hop();
        spin(50us);
    }
    done = true;
    done.notify_one();
}

template <class Way>
manual<Way> there_and_back(thread_executor& here, thread_executor& there, std::atomic<bool>& done) {
    co_await here.hop();
    {
        COROSCOPE("there and back");
        spin(50us);
        co_await there.hop();
        {
            COROSCOPE("there");
            spin(50us);
        }
        co_await here.hop();
        spin(50us);
    }
    done = true;
    done.notify_one();
}

manual<foreign::declared> named_left(slot& into) {
    COROSCOPE("left");
    for (int each = 0; each < 3; ++each) {
        spin(30us);
        co_await suspend_into(into);
    }
}
manual<foreign::declared> named_right(slot& into) {
    COROSCOPE("right");
    for (int each = 0; each < 3; ++each) {
        spin(30us);
        co_await suspend_into(into);
    }
}

// Resumes another coroutine from its own run.
manual<foreign::declared> resumes_inline(manual<foreign::declared>& other) {
    COROSCOPE("outer run");
    spin(50us);
    other.resume();
    spin(50us);
    co_return;
}
manual<foreign::declared> inner_run(slot& into) {
    COROSCOPE("inner run");
    spin(200us);
    co_await suspend_into(into);
}

manual<foreign::declared> runs_plain_generator(int& sum);

// Not inline: clang would put its frame into the frame of the calling coroutine, and the scope
// would belong to that coroutine.
[[gnu::noinline]] foreign::generator<int, foreign::plain> plain_numbers() {
    COROSCOPE("plain generator");
    co_yield 1;
    co_yield 2;
}
manual<foreign::declared> runs_plain_generator(int& sum) {
    COROSCOPE("consumer");
    auto all = plain_numbers();
    while (all.next()) sum += all.value();
    co_return;
}

manual<foreign::declared> starts_child(slot& into);
foreign::fire_and_forget eager_child(slot& into) {
    COROSCOPE("eager child");
    spin(200us);
    co_await suspend_into(into);
    spin(50us);
}
manual<foreign::declared> starts_child(slot& into) {
    COROSCOPE("starter");
    spin(50us);
    eager_child(into);
    spin(50us);
    co_return;
}

void wait_for(std::atomic<bool>& done) { done.wait(false); }

}  // namespace

TYPE_TO_STRING_AS("plain", foreign::plain);
TYPE_TO_STRING_AS("declared", foreign::declared);
TYPE_TO_STRING_AS("outside", foreign::outside);

TEST_SUITE("scopes in coroutines") {
    TEST_CASE_TEMPLATE("a scope that spans suspensions belongs to its task, and its time divides "
                       "as the task's time",
                       Way, foreign::declared, foreign::outside) {
        recording session;
        slot into;
        auto coroutine = two_pauses<Way>(into);
        coroutine.resume();
        spin(500us);
        into.resume();
        spin(500us);
        into.resume();
        const recorded found = session.stop();
        const auto& scope = found.event("across two pauses");
        const auto split = found.split(scope);
        CHECK(scope.task == found.task_index("two_pauses"));
        CHECK((scope.flags & analysis::event_in_frame) != 0);
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        CHECK(split.wall_ns() == scope.end_ns - scope.start_ns);
        CHECK(split.waiting_ns >= nearly(1'000'000));
        CHECK(split.running_ns + nearly(1'000'000) <= split.wall_ns());
        CHECK(split.running_ns >= nearly(50'000));
        const auto& inner = found.event("between pauses");
        CHECK(&found.trace.events[inner.parent] == &scope);
        CHECK(found.split(inner).running_ns == inner.end_ns - inner.start_ns);
    }

    TEST_CASE_TEMPLATE(
        "a task from before the session is known by its site, and its scopes belong to it", Way,
        foreign::declared, foreign::outside) {
        slot into;
        auto coroutine = two_pauses<Way>(into);
        recording session;
        coroutine.resume();
        into.resume();
        into.resume();
        const recorded found = session.stop();
        const auto& scope = found.event("across two pauses");
        CHECK(scope.task == found.task_index("two_pauses"));
        CHECK((scope.flags & analysis::event_in_frame) != 0);
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
    }

    TEST_CASE_TEMPLATE("a task that outlives its session leaves no mark on its thread, and the "
                       "next session sees it",
                       Way, foreign::declared, foreign::outside) {
        slot into;
        std::optional<recording> session(std::in_place);
        auto coroutine = two_pauses<Way>(into);
        coroutine.resume();
        CHECK(session->stop().tasks("two_pauses").size() == 1);
        into.resume();
        CHECK(current_context().task == 0);
        session.emplace();
        into.resume();
        const recorded found = session->stop();
        CHECK(found.task("two_pauses").end_ns.has_value());
        CHECK(current_context().task == 0);
    }

    TEST_CASE("in a coroutine that is not instrumented only a scope's total time is known, and the "
              "scope says so") {
        recording session;
        slot into;
        auto coroutine = two_pauses<foreign::plain>(into);
        const std::int64_t before_ns = steady_ns();
        coroutine.resume();
        const std::int64_t first_pause_ns = steady_ns();
        spin(500us);
        into.resume();
        spin(500us);
        const std::int64_t last_pause_ns = steady_ns();
        into.resume();
        const std::int64_t after_ns = steady_ns();
        const recorded found = session.stop();
        const auto& scope = found.event("across two pauses");
        CHECK(scope.task == analysis::none);
        CHECK((scope.flags & analysis::event_in_frame) != 0);
        CHECK((scope.flags & analysis::event_suspension_unknown) != 0);
        CHECK(lies_between(scope.end_ns - scope.start_ns, last_pause_ns - first_pause_ns,
                           after_ns - before_ns));
        CHECK(found.split(scope).running_ns == 0);
        CHECK(scope.self_running_ns == 0);
    }

    TEST_CASE_TEMPLATE("a scope may begin on one thread and end on another", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        recording session;
        {
            COROSCOPE("here");
            thread_executor there;
            std::atomic<bool> done{false};
            auto coroutine = hops_once<Way>(there, done);
            coroutine.resume();
            wait_for(done);
            there.join();
        }
        const recorded found = session.stop();
        const auto& scope = found.event("hop");
        CHECK(scope.thread == found.event("here").thread);
        CHECK(found.end_thread(scope) != scope.thread);
        CHECK((scope.flags & analysis::event_async) != 0);
        if (std::is_same_v<Way, foreign::plain>) {
            CHECK((scope.flags & analysis::event_suspension_unknown) != 0);
            return;
        }
        const auto& task = found.task("hops_once");
        REQUIRE(task.slices.size() == 2);
        CHECK(found.trace.slices[task.slices[0]].thread == scope.thread);
        CHECK(found.trace.slices[task.slices[1]].thread == found.end_thread(scope));
        CHECK(found.split(scope).running_ns >= nearly(100'000));
        check_sum(task, found.trace.duration_ns);
    }

    TEST_CASE_TEMPLATE("a scope may come back to the thread on which it began", Way,
                       foreign::declared, foreign::outside) {
        recording session;
        {
            thread_executor here;
            thread_executor there;
            std::atomic<bool> done{false};
            auto coroutine = there_and_back<Way>(here, there, done);
            coroutine.resume();
            wait_for(done);
            here.join();
            there.join();
        }
        const recorded found = session.stop();
        const auto& scope = found.event("there and back");
        const auto& inner = found.event("there");
        CHECK(scope.thread == found.end_thread(scope));
        CHECK(inner.thread != scope.thread);
        CHECK(scope.task == found.task_index("there_and_back"));
        CHECK(inner.task == scope.task);
        CHECK(&found.trace.events[inner.parent] == &scope);
        CHECK(found.split(scope).running_ns >= nearly(150'000));
        CHECK(found.split(scope).wall_ns() == scope.end_ns - scope.start_ns);
        CHECK(found.task("there_and_back").slices.size() == 4);
    }

    TEST_CASE("coroutines that take turns on one thread keep their scopes apart") {
        recording session;
        slot left_slot;
        slot right_slot;
        auto left = named_left(left_slot);
        auto right = named_right(right_slot);
        left.resume();
        right.resume();
        for (int each = 0; each < 3; ++each) {
            left_slot.resume();
            right_slot.resume();
        }
        REQUIRE(left.done());
        REQUIRE(right.done());
        const recorded found = session.stop();
        const auto& left_scope = found.event("left");
        const auto& right_scope = found.event("right");
        CHECK(left_scope.task == found.task_index("named_left"));
        CHECK(right_scope.task == found.task_index("named_right"));
        CHECK(left_scope.parent == analysis::none);
        CHECK(right_scope.parent == analysis::none);
        const std::int64_t running =
            found.split(left_scope).running_ns + found.split(right_scope).running_ns;
        CHECK(running <= std::max(left_scope.end_ns, right_scope.end_ns) -
                             std::min(left_scope.start_ns, right_scope.start_ns));
        CHECK(found.split(left_scope).running_ns >= nearly(90'000));
        CHECK(found.split(right_scope).running_ns >= nearly(90'000));
    }

    TEST_CASE("work inside another task's run does not count as that task's own time") {
        recording session;
        slot into;
        auto inner = inner_run(into);
        auto outer = resumes_inline(inner);
        outer.resume();
        into.resume();
        const recorded found = session.stop();
        const auto& outer_scope = found.event("outer run");
        const auto& inner_scope = found.event("inner run");
        CHECK(inner_scope.task == found.task_index("inner_run"));
        CHECK(outer_scope.task == found.task_index("resumes_inline"));
        const analysis::time_split split = found.split(outer_scope);
        CHECK(split.wall_ns() == outer_scope.end_ns - outer_scope.start_ns);
        CHECK(split.suspended_ns >= nearly(200'000));
        CHECK(split.running_ns >= nearly(100'000));
        CHECK(outer_scope.self_running_ns == split.running_ns);
    }

    TEST_CASE("an eager child runs inside its starter, then on its own") {
        recording session;
        slot into;
        auto starter = starts_child(into);
        starter.resume();
        into.resume();
        const recorded found = session.stop();
        const auto& child = found.task("eager_child");
        CHECK(child.parent == found.task_index("starts_child"));
        CHECK(child.slices.size() == 2);
        CHECK(found.task("starts_child").slices.size() == 2);
        CHECK(found.split(found.event("starter")).suspended_ns >= nearly(200'000));
        CHECK(found.split(found.event("eager child")).running_ns >= nearly(250'000));
        CHECK(found.event("eager child").task == found.task_index("eager_child"));
    }

    TEST_CASE("a scope of a plain generator inside a task is marked as in a frame with unknown "
              "suspensions") {
        recording session;
        int sum = 0;
        runs_plain_generator(sum).resume();
        CHECK(sum == 3);
        const recorded found = session.stop();
        const auto& scope = found.event("plain generator");
        CHECK((scope.flags & analysis::event_in_frame) != 0);
        CHECK((scope.flags & analysis::event_suspension_unknown) != 0);
        CHECK(found.split(scope).running_ns == 0);
        CHECK((found.event("consumer").flags & analysis::event_suspension_unknown) == 0);
    }

    TEST_CASE("scopes have the right thread, although the thread's first use of the profiler is a "
              "resumption") {
        recording session;
        {
            thread_executor there;
            std::atomic<bool> first_done{false};
            std::atomic<bool> second_done{false};
            auto first = there_and_back<foreign::declared>(there, there, first_done);
            first.resume();
            wait_for(first_done);
            auto second = there_and_back<foreign::declared>(there, there, second_done);
            second.resume();
            wait_for(second_done);
            there.join();
        }
        const recorded found = session.stop();
        const auto scopes = found.events("there and back");
        REQUIRE(scopes.size() == 2);
        for (const auto* scope : scopes) {
            CHECK(scope->thread == found.events("there").front()->thread);
            CHECK(scope->thread == found.end_thread(*scope));
        }
    }
}
