// SPDX-License-Identifier: Apache-2.0

// A launch belongs to the current task of its thread, after any hops.

#include <atomic>
#include <thread>
#include <vector>

#include "../runtime/support/executors.hpp"
#include "launch_ledger.hpp"

using namespace coroscope;
using namespace coroscope::test;
using trace::device_activity;

namespace {

/// Suspends, and continues in the pool. await_suspend calls `in_suspend`.
template <class InSuspend>
struct hop_to {
    thread_executor& pool;
    InSuspend in_suspend;
    hop_to(thread_executor& to, InSuspend call) : pool(to), in_suspend(call) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
        in_suspend();
        pool.post([waiter] { waiter.resume(); });
    }
    void await_resume() const noexcept {}
};

task<> inner_work(ledger& book) {
    const std::uint64_t self = own_task();
    launch_as(book, self);
    co_return;
}

task<> hopping_request(thread_executor& pool, ledger& book, int hops) {
    const std::uint64_t self = own_task();
    for (int hop = 0; hop < hops; ++hop) {
        launch_as(book, self);
        co_await hop_to(pool, [&book, self] { launch_as(book, self); });
        launch_as(book, self);
        co_await inner_work(book);
        launch_as(book, self);
    }
}

}  // namespace

TEST_SUITE("tasks of launches") {
    TEST_CASE("each of 100,000 launches belongs to its task, although tasks hop between threads") {
        constexpr int requests = 250;
        constexpr int hops = 100;
        ledger book;
        const fake::id_counts before = fake::ids();
        const recorded_devices found = record_devices(
            [&book] {
                thread_executor pool(4);
                std::vector<std::thread> clients;
                for (int client = 0; client < 5; ++client)
                    clients.emplace_back([&] {
                        for (int at = 0; at < requests / 5; ++at)
                            sync_wait(hopping_request(pool, book, hops));
                    });
                for (std::thread& each : clients) each.join();
                pool.join();
                launch_as(book, 0);
            },
            {.all_threads = true});
        CHECK(book.size() == requests * hops * 5 + 1);
        CHECK(book.size() >= 100'000);
        CHECK(found.kernels().size() == book.size());
        CHECK(found.of(device_activity::runtime_call).size() == book.size());
        CHECK(book.wrong(found) == 0);
        CHECK(found.header.lost_device_records == 0);
        const fake::id_counts after = fake::ids();
        CHECK(after.bad_pops == before.bad_pops);
        CHECK(after.deepest == 1);
        CHECK(fake::current_id() == 0);
    }

    TEST_CASE("launches in jobs, under contexts that are set by hand, and on unknown threads have "
              "the right task") {
        ledger book;
        const recorded_devices found = record_devices(
            [&book] {
                launch_as(book, 0);
                const context job_like(4242, current_context().session, 0);
                {
                    const context_guard guard(job_like);
                    launch_as(book, 4242);
                    std::thread(propagate([&book] { launch_as(book, 4242); })).join();
                    std::thread([&book] { launch_as(book, 0); }).join();
                }
                launch_as(book, 0);
                thread_executor pool(1);
                executor_adaptor adaptor(pool);
                adaptor.post([&book] { launch_as(book, own_task()); });
                pool.join();
            },
            {.all_threads = true});
        CHECK(found.kernels().size() == 6);
        CHECK(book.wrong(found) == 0);
        CHECK(found.kernels().back().body.task != 0);
    }

    TEST_CASE("a session of one thread follows its tasks, and leaves no id on other threads") {
        ledger book;
        const recorded_devices found = record_devices([&book] {
            thread_executor pool(1);
            sync_wait(hopping_request(pool, book, 1));
            std::atomic<std::uint64_t> left_behind{1};
            pool.post([&left_behind] { left_behind = fake::current_id(); });
            pool.join();
            CHECK(left_behind == 0);
            CHECK(fake::current_id() == 0);
            launch_as(book, 0);
        });
        CHECK(found.kernels().size() == 6);
        CHECK(book.wrong(found) == 0);
    }

    TEST_CASE("a call of the driver inside a call of the runtime belongs to the same task") {
        ledger book;
        const recorded_devices found = record_devices([&book] {
            const context_guard guard(context(99, current_context().session, 0));
            book.note(fake::call_launch({.with_driver_call = true}), 99);
        });
        CHECK(found.activities.size() == 3);
        CHECK(found.of(device_activity::driver_call)[0].name == "cuLaunchKernel");
        CHECK(book.wrong(found) == 0);
    }

    TEST_CASE("a reused correlation number does not bring an earlier task back") {
        const recorded_devices found = record_devices([] {
            {
                const context_guard guard(context(7, current_context().session, 0));
                fake::call_launch({.correlation = 500});
            }
            fake::call_launch({.correlation = 500});  // in no task
            const context_guard guard(context(8, current_context().session, 0));
            fake::call_launch({.correlation = 500});
        });
        const auto kernels = found.kernels();
        REQUIRE(kernels.size() == 3);
        CHECK(kernels[0].body.task == 7);
        CHECK(kernels[1].body.task == 0);
        CHECK(kernels[2].body.task == 8);
    }

    TEST_CASE("a late kernel does not belong to the task that now uses its number") {
        const recorded_devices found = record_devices([] {
            const std::uint64_t early = fake::now_ns();
            {
                const context_guard guard(context(7, current_context().session, 0));
                fake::call_launch({.correlation = 600});
            }
            const context_guard guard(context(8, current_context().session, 0));
            fake::call_launch({.correlation = 600});
            CUpti_ActivityKernel10 late{};
            late.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
            late.start = early;
            late.end = early + 5;
            late.correlationId = 600;
            fake::append(late);
        });
        REQUIRE(found.kernels().size() == 3);
        CHECK(found.kernels()[2].body.task == 0);
    }

    TEST_CASE("a context from an earlier session on a thread belongs to no task of the next one") {
        std::atomic<int> step{0};
        const auto wait_for = [&step](int value) {
            while (step != value) std::this_thread::yield();
        };
        std::thread other;
        record_devices(
            [&] {
                other = std::thread([&] {
                    const context_guard guard(context(31, 0, 0));
                    fake::call_launch({});
                    step = 1;
                    wait_for(2);
                    fake::call_launch({.kernel = "later"});
                    step = 3;
                });
                wait_for(1);
            },
            {.all_threads = true});
        const recorded_devices later = record_devices(
            [&] {
                step = 2;
                wait_for(3);
            },
            {.all_threads = true});
        other.join();
        REQUIRE(later.kernels().size() == 1);
        CHECK(later.kernels()[0].body.task == 0);
    }
}
