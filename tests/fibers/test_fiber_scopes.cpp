// SPDX-License-Identifier: Apache-2.0

// Scopes on the stack of a fiber: their task, and their suspended time.

#include <atomic>
#include <cstddef>
#include <thread>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "recorded_fibers.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> suspends_its_fiber(fiber::handle& self) {
    COROSCOPE("in the coroutine");
    self.suspend();
    nap();
    co_return;
}

// A function that may continue on another thread after each of its scopes.
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

}  // namespace

TEST_SUITE("fiber") {
    TEST_CASE("a scope that was open across a suspension has the time of its suspension") {
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
        CHECK(found.split(outer).running_ns >= nearly(400'000));
        CHECK(found.split(outer).running_ns <= task.time.running_ns);
        const auto& inner = found.event("not suspended");
        CHECK(inner.flags == 0);
        REQUIRE(inner.parent != analysis::none);
        CHECK(found.trace.events[inner.parent].name == outer.name);
    }

    TEST_CASE("scopes on a fiber belong to the fiber on each thread, and scopes outside belong to "
              "no task") {
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
        CHECK(coroutine.time.suspended_ns >= nearly(200'000));
        CHECK(coroutine.slices.size() == 2);
        CHECK(found.split(found.event("in the coroutine")).suspended_ns ==
              coroutine.time.suspended_ns);
    }

    TEST_CASE("a fiber that runs another fiber is suspended meanwhile") {
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
        CHECK(fiber_at(found, 0).slices.size() == 3);
        CHECK(fiber_at(found, 1).slices.size() == 2);
        CHECK(found.split(found.event("outer")).suspended_ns >= nearly(200'000));
        for (const auto& task : found.trace.tasks) CHECK_FALSE(task.losses);
    }
}
