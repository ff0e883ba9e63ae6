// SPDX-License-Identifier: Apache-2.0

// Stacks that are unwound: fibers that are destroyed, with coroutines and jobs on them.

#include <stdexcept>

#include <coroscope/anomaly.hpp>
#include <coroscope/attribute.hpp>
#include <coroscope/executor_adaptor.hpp>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/executors.hpp"
#include "recorded_fibers.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

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
        // The fiber did not run during the nap.
        CHECK(open.end_ns - open.start_ns - found.split(open).running_ns >= nearly(200'000));
        CHECK(found.event("in a destructor").task == analysis::none);
    }

    TEST_CASE("a fiber that never ran is cancelled") {
        recording session;
        {
            const fiber work([] { FAIL("it must not run"); });
        }
        CHECK(fiber_at(session.stop()).state == analysis::task_state::cancelled);
    }

    TEST_CASE("coroutines on the stack of a destroyed fiber are abandoned, and are no failures") {
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

    TEST_CASE("a job on the stack of a destroyed fiber is abandoned, and is no failure") {
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
