// SPDX-License-Identifier: Apache-2.0

// asio_executor: the jobs of Boost.Asio's pools and contexts are queued, run and fail as tasks.

#include <coroscope/integration/asio_executor.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>

#include <coroscope/analysis/executor_statistics.hpp>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace asio = boost::asio;

namespace {

template <class Executor>
foreign::manual<foreign::declared> hops_to(Executor& executor) {
    COROSCOPE("whole");
    co_await executor.schedule();
    COROSCOPE("in the pool");
}

}  // namespace

TEST_SUITE("asio_executor") {
    TEST_CASE("jobs of a pool are tasks with the time that they were queued") {
        constexpr int jobs = 200;
        recording session;
        std::atomic<int> sum{0};
        {
            asio::thread_pool pool(4);
            coroscope::asio_executor tasks(pool);
            for (int each = 0; each < jobs; ++each) {
                tasks.execute([&sum, value = std::make_unique<int>(1)] {
                    COROSCOPE("job");
                    sum += *value;
                });
            }
            pool.join();
        }
        CHECK(sum == jobs);
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == jobs);
        CHECK(found.count("job") == jobs);
        for (const auto& task : found.trace.tasks) {
            CHECK(task.state == analysis::task_state::finished);
            CHECK(task.time.queued_ns > 0);
            CHECK_FALSE(task.losses);
            check_sum(task, found.trace.duration_ns);
        }
    }

    TEST_CASE("an asio_executor may have an any_io_executor, a strand or a context, and runs no "
              "job inside execute()") {
        asio::io_context context;
        int ran = 0;
        coroscope::asio_executor<> any(context);
        coroscope::asio_executor strand(asio::make_strand(context));
        coroscope::asio_executor own(context);
        asio::post(context, [&] {
            any.execute([&ran] { ++ran; });
            strand.execute([&ran] { ++ran; });
            own.post([&ran] { ++ran; });
            CHECK(ran == 0);
        });
        context.run();
        CHECK(ran == 3);
    }

    TEST_CASE("an exception leaves the context's run(), and the job has failed") {
        recording session;
        asio::io_context context;
        coroscope::asio_executor tasks(context);
        tasks.execute([] { throw std::runtime_error("in the job"); });
        CHECK_THROWS_WITH_AS(context.run(), "in the job", std::runtime_error);
        CHECK(session.stop().trace.tasks.front().state == analysis::task_state::failed);
    }

    TEST_CASE("a job whose context is destroyed before it runs is cancelled") {
        recording session;
        {
            asio::io_context context;
            coroscope::asio_executor(context).execute([] { FAIL("it must not run"); });
        }
        CHECK(session.stop().trace.tasks.front().state == analysis::task_state::cancelled);
    }

    TEST_CASE("a coroutine continues in the pool, and is queued until then") {
        recording session;
        {
            asio::thread_pool pool(1);
            coroscope::asio_executor tasks(pool);
            auto coroutine = hops_to(tasks);
            coroutine.resume();
            pool.join();
            CHECK(coroutine.done());
        }
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == 1);
        const auto& task = found.trace.tasks.front();
        CHECK(task.time.queued_ns > 0);
        CHECK(task.time.waiting_ns == 0);
        CHECK(found.event("in the pool").thread != found.event("whole").thread);
    }

    TEST_CASE("adaptors of pools are executors with the names that they were given") {
        recording session;
        {
            asio::thread_pool one(1);
            asio::thread_pool other(1);
            coroscope::asio_executor named(one, "resizing");
            coroscope::asio_executor unnamed(other);
            for (int each = 0; each < 3; ++each) named.execute([] {});
            unnamed.execute([] {});
            one.join();
            other.join();
        }
        const recorded found = session.stop();
        const auto all = analysis::statistics_of_executors(found.trace);
        REQUIRE(all.size() == 2);  // the process may know others, of earlier tests
        for (const auto& each : all) {
            const analysis::executor_info& info = found.trace.executors[each.executor];
            CHECK(info.kind == trace::executor_kind::thread_pool);
            CHECK(info.name == (each.jobs == 3 ? "resizing" : ""));
        }
        CHECK(all[0].jobs + all[1].jobs == 4);
    }
}
