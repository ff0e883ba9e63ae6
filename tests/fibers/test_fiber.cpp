// SPDX-License-Identifier: Apache-2.0

// coroscope::fiber: results and lifetimes of a function on a stack of its own, and what its scopes say.

#include <coroscope/integration/boost_context.hpp>

#include <boost/context/protected_fixedsize_stack.hpp>

#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <coroscope/anomaly.hpp>
#include <coroscope/attribute.hpp>
#include <coroscope/executor_adaptor.hpp>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

void nap() { spin(std::chrono::microseconds(200)); }

const analysis::task_info& fiber_at(const recorded& found, std::size_t which = 0) {
    for (const auto& task : found.trace.tasks) {
        if (task.fiber && which-- == 0) return task;
    }
    FAIL("there is no such fiber");
    return found.trace.tasks.front();
}

struct says_when_gone {
    explicit says_when_gone(int& count) : gone(&count) {}
    says_when_gone(const says_when_gone&) = delete;
    says_when_gone& operator=(const says_when_gone&) = delete;
    ~says_when_gone() {
        COROSCOPE("in a destructor");
        ++*gone;
    }
    int* gone;
};

foreign::manual<foreign::declared> suspends_its_fiber(fiber::handle& self) {
    COROSCOPE("in the coroutine");
    self.suspend();
    nap();
    co_return;
}

// A function with scopes that may go on on another thread after each of them.
void hops(fiber::handle& self, int times) {
    for (int each = 0; each < times; ++each) {
        COROSCOPE("hop");
        {
            COROSCOPE("before");
        }
        self.suspend();
        {
            COROSCOPE("behind");
        }
    }
}

task<int> suspends_in_a_child(fiber::handle& self) {
    COROSCOPE_FUNCTION();
    self.suspend();
    co_return 1;
}
task<int> awaits_the_child(fiber::handle& self) {
    COROSCOPE_FUNCTION();
    const attribute own("tenant", "awaiting");
    co_return co_await suspends_in_a_child(self) + 1;
}

void check_abandoned(const analysis::task_info& task) {
    CHECK(task.state == analysis::task_state::abandoned);
    CHECK_FALSE(task.losses);
}

struct resumes_at_the_end {
    explicit resumes_at_the_end(fiber& which) : resumed(&which) {}
    resumes_at_the_end(const resumes_at_the_end&) = delete;
    resumes_at_the_end& operator=(const resumes_at_the_end&) = delete;
    ~resumes_at_the_end() { resumed->resume(); }
    fiber* resumed;
};

}  // namespace

TEST_SUITE("fiber") {
    TEST_CASE("a fiber runs when it is resumed, gives control back and goes on where it was") {
        std::vector<int> steps;
        fiber work([&steps](fiber::handle& self) {
            steps.push_back(1);
            self.suspend();
            steps.push_back(3);
        });
        CHECK(steps.empty());
        work.resume();
        steps.push_back(2);
        CHECK_FALSE(work.done());
        work.resume();
        CHECK(work.done());
        CHECK(steps == std::vector{1, 2, 3});
    }

    TEST_CASE("a function may be move-only, take nothing, and is gone when the fiber is done") {
        int gone = 0, seen = 0;
        fiber work([&seen, held = std::make_unique<says_when_gone>(gone),
                    number = std::make_unique<int>(7)] { seen = *number; });
        work.resume();
        CHECK(seen == 7);
        CHECK(gone == 1);
    }

    TEST_CASE("fibers can be moved, and an empty one is not valid") {
        int ran = 0;
        fiber first([&ran](fiber::handle& self) {
            ++ran;
            self.suspend();
            ++ran;
        });
        first.resume();
        fiber second = std::move(first);
        CHECK_FALSE(
            first.valid());  // NOLINT(bugprone-use-after-move): what it is left as is promised
        second.resume();
        CHECK(ran == 2);
        second = fiber([&ran] { ran = 10; });
        second.resume();
        CHECK(ran == 10);
    }

    TEST_CASE("a fiber may be moved while it runs, and assigned to itself") {
        std::vector<fiber> fibers;
        fibers.reserve(1);
        int ran = 0;
        fibers.emplace_back([&](fiber::handle& self) {
            fibers.emplace_back([] {});  // the vector grows
            self.suspend();
            ++ran;
        });
        fibers[0].resume();
        fiber& itself = fibers[0];
        fibers[0] = std::move(itself);
        REQUIRE(fibers[0].valid());
        fibers[0].resume();
        CHECK(ran == 1);
        CHECK(fibers[0].done());
    }

    TEST_CASE("an exception leaves resume(), and the task has failed") {
        recording session;
        fiber work([](fiber::handle& self) {
            self.suspend();
            throw std::runtime_error("on the fiber");
        });
        work.resume();
        CHECK_THROWS_WITH_AS(work.resume(), "on the fiber", std::runtime_error);
        CHECK(work.done());
        CHECK(current_context().task == 0);
        CHECK(fiber_at(session.stop()).state == analysis::task_state::failed);
    }

    TEST_CASE("a fiber that is destroyed while suspended is unwound, and abandoned") {
        recording session;
        int gone = 0;
        {
            fiber work([&gone](fiber::handle& self) {
                const context_guard guard(current_context());
                const says_when_gone watch(gone);
                COROSCOPE("open at the end");
                self.suspend();
            });
            work.resume();
            nap();
        }
        CHECK(gone == 1);
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        CHECK(fiber_at(found).state == analysis::task_state::abandoned);
        const auto& open = found.event("open at the end");
        CHECK((open.flags & analysis::event_abandoned) != 0);
        // It did not run during the nap, of 200 microseconds and some clock.
        CHECK(open.end_ns - open.start_ns - found.split(open).running_ns >= 198'000);
        CHECK(found.event("in a destructor").task == analysis::none);
    }

    TEST_CASE("a fiber that never ran is cancelled") {
        recording session;
        {
            const fiber work([] { FAIL("it must not run"); });
        }
        CHECK(fiber_at(session.stop()).state == analysis::task_state::cancelled);
    }

    TEST_CASE("a scope that was open across a suspension knows what of it was suspended") {
        recording session;
        fiber work([](fiber::handle& self) {
            COROSCOPE("outer");
            {
                COROSCOPE("not suspended");
                nap();
            }
            self.suspend();
            nap();
        });
        work.resume();
        nap();
        work.ready();
        nap();
        work.resume();
        const recorded found = session.stop();
        const auto& outer = found.event("outer");
        const auto& task = fiber_at(found);
        CHECK((outer.flags & analysis::event_in_frame) != 0);
        CHECK((outer.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.split(outer).suspended_ns == task.time.suspended_ns);
        CHECK(found.split(outer).queued_ns == task.time.queued_ns);
        CHECK(found.split(outer).running_ns >= 400'000);
        CHECK(found.split(outer).running_ns <= task.time.running_ns);
        const auto& inner = found.event("not suspended");
        CHECK(inner.flags == 0);
        REQUIRE(inner.parent != analysis::none);
        CHECK(found.trace.events[inner.parent].name == outer.name);
    }

    TEST_CASE("scopes belong to the fiber on whichever thread it runs, and others to nobody") {
        constexpr int times = 100;
        recording session;
        {
            fiber work([](fiber::handle& self) { hops(self, times); });
            thread_executor first, second;
            for (int each = 0; each <= times; ++each) {
                std::atomic<bool> done{false};
                (each % 2 == 0 ? first : second).post([&] {
                    work.resume();
                    {
                        COROSCOPE("outside");
                    }
                    done = true;
                    done.notify_one();
                });
                done.wait(false);
            }
            CHECK(work.done());
        }
        const recorded found = session.stop();
        for (const char* name : {"hop", "before", "behind"}) {
            CHECK(found.count(name) == times);
            for (const auto* event : found.events(name)) {
                REQUIRE(event->task != analysis::none);
                CHECK(found.trace.tasks[event->task].fiber);
            }
        }
        for (const auto* event : found.events("hop"))
            CHECK(found.end_thread(*event) != event->thread);
        for (std::size_t each = 0; each + 1 < times; ++each)
            CHECK(found.events("behind")[each]->thread == found.events("before")[each + 1]->thread);
        for (const auto* event : found.events("outside")) CHECK(event->task == analysis::none);
        CHECK_FALSE(fiber_at(found).losses);
        CHECK(fiber_at(found).slices.size() == times + 1);
    }

    TEST_CASE("a coroutine that blocks its fiber is suspended as long as the fiber is") {
        recording session;
        {
            fiber work([](fiber::handle& self) {
                auto coroutine = suspends_its_fiber(self);
                coroutine.resume();
                CHECK(coroutine.done());
            });
            work.resume();
            nap();
            std::thread([&work] { work.resume(); }).join();
        }
        const recorded found = session.stop();
        const auto& coroutine = found.task("suspends_its_fiber");
        CHECK_FALSE(coroutine.losses);
        CHECK(coroutine.time.suspended_ns >= 200'000);
        CHECK(coroutine.slices.size() == 2);
        CHECK(found.split(found.event("in the coroutine")).suspended_ns ==
              coroutine.time.suspended_ns);
    }

    TEST_CASE("a fiber that runs another is interrupted by it, not suspended") {
        recording session;
        fiber outer([] {
            COROSCOPE("outer");
            fiber inner([](fiber::handle& self) {
                COROSCOPE("inner");
                nap();
                self.suspend();
            });
            inner.resume();
            inner.resume();
        });
        outer.resume();
        const recorded found = session.stop();
        CHECK(fiber_at(found, 0).slices.size() == 1);
        CHECK(fiber_at(found, 1).slices.size() == 2);
        CHECK(found.event("outer").self_running_ns <=
              found.split(found.event("outer")).running_ns - 200'000);
        for (const auto& task : found.trace.tasks) CHECK_FALSE(task.losses);
    }

    TEST_CASE("a fiber outlives the one that made it") {
        recording session;
        fiber made;
        fiber maker([&made](fiber::handle& self) {
            made = fiber([](fiber::handle& own) {
                COROSCOPE("of its own");
                own.suspend();
            });
            self.suspend();
        });
        maker.resume();
        made.resume();
        maker.resume();
        REQUIRE(maker.done());
        maker = fiber();
        made.resume();
        CHECK(made.done());
        const recorded found = session.stop();
        const auto& scope = found.event("of its own");
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.split(scope).suspended_ns == fiber_at(found, 1).time.suspended_ns);
    }

    TEST_CASE("what a function throws when a fiber is made of it leaves no fiber behind") {
        struct cannot_be_copied {
            cannot_be_copied() = default;
            cannot_be_copied(const cannot_be_copied&) { throw std::runtime_error("no copy"); }
            void operator()() const {}
        };
        const cannot_be_copied function;
        CHECK_THROWS_WITH_AS(fiber{function}, "no copy", std::runtime_error);
        int ran = 0;
        fiber after([&ran] { ++ran; });
        after.resume();
        CHECK(ran == 1);
    }

    TEST_CASE("a thread makes any number of fibers, whether or not they run") {
        constexpr int many =
            70'000;  // more than a sanitizer's record of the calls that a thread is in has places
        int ran = 0;
        for (int each = 0; each < many; ++each) {
            fiber work([&ran] { ++ran; });
            if (each % 2 == 0) work.resume();
        }
        CHECK(ran == many / 2);
    }

    TEST_CASE("any stack of Boost.Context's will do") {
        recording session;
        fiber work(std::allocator_arg, boost::context::protected_fixedsize_stack(64 * 1024),
                   [](fiber::handle& self) {
                       COROSCOPE("on it");
                       self.suspend();
                   });
        work.resume();
        work.resume();
        const recorded found = session.stop();
        CHECK((found.event("on it").flags & analysis::event_suspension_unknown) == 0);
    }

    TEST_CASE("coroutines on the stack of a fiber that is destroyed are abandoned, no failures") {
        int anomalies = 0;
        recording session;
        {
            const anomaly_detection watched(
                [](const anomaly&, void* count) { ++*static_cast<int*>(count); }, &anomalies);
            const attribute mine("tenant", "destroyer");
            fiber work([](fiber::handle& self) { sync_wait(awaits_the_child(self)); });
            work.resume();
            const context before = current_context();
            work = fiber();
            CHECK(current_context() == before);
            COROSCOPE("behind");
        }
        CHECK(anomalies == 0);
        const recorded found = session.stop();
        check_abandoned(found.task("suspends_in_a_child"));
        check_abandoned(found.task("awaits_the_child"));
        check_abandoned(fiber_at(found));
        CHECK(found.event("behind").task == analysis::none);
    }

    TEST_CASE("a job on the stack of a fiber that is destroyed is abandoned, and no failure") {
        int anomalies = 0;
        recording session;
        {
            const anomaly_detection watched(
                [](const anomaly&, void* count) { ++*static_cast<int*>(count); }, &anomalies);
            manual_executor queue;
            executor_adaptor jobs(queue);
            fiber work([&](fiber::handle& self) {
                jobs.execute([&self] {
                    COROSCOPE("job");
                    self.suspend();
                });
                queue.run();
            });
            work.resume();
        }
        CHECK(anomalies == 0);
        const recorded found = session.stop();
        check_abandoned(found.trace.tasks[found.event("job").task]);
        check_abandoned(fiber_at(found));
    }

    TEST_CASE("a job that ends on a fiber while another stack is unwound has not failed") {
        recording session;
        manual_executor queue;
        executor_adaptor jobs(queue);
        fiber work([&](fiber::handle& self) {
            jobs.execute([&self] {
                COROSCOPE("ends");
                self.suspend();
            });
            queue.run();
            jobs.execute([] {
                COROSCOPE("fails");
                throw std::runtime_error("in the job");
            });
            CHECK_THROWS_AS(queue.run(), std::runtime_error);
        });
        work.resume();
        try {
            const resumes_at_the_end last(work);
            throw std::runtime_error("elsewhere");
        } catch (const std::runtime_error&) {
            CHECK(work.done());
        }
        const recorded found = session.stop();
        const auto state_of = [&found](const char* name) {
            return found.trace.tasks[found.event(name).task].state;
        };
        CHECK(state_of("ends") == analysis::task_state::finished);
        CHECK(state_of("fails") == analysis::task_state::failed);
        CHECK(fiber_at(found).state == analysis::task_state::finished);
    }
}
