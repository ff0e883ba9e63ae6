// SPDX-License-Identifier: Apache-2.0
// Wakes by timers and by cancellations, and their limits.

#include <limits>

#include <doctest/doctest.h>

#include <coroscope/analysis/views.hpp>

#include "../chrome_export.hpp"
#include "../loading.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using analysis::wake_reason;

namespace {

// The task 7 waits on thread 1 from 1,000 to 5,000, and a timer of it expires at `expiry`.
analysis::trace with_expiry(std::int64_t expiry) {
    trace_builder built;
    built.lasts(100'000);
    const std::int64_t monotonic_ns = built.header.start.monotonic_ns + expiry;
    built.on(1)
        .spawn(0, 7, 0, trace::spawn_started)
        .suspend(1'000, 7)
        .raw(static_cast<std::uint64_t>(monotonic_ns),
             make_tag(trace::record_kind::wake, 0, trace::wake_timer), {7, 0})
        .resume(5'000, 7)
        .suspend(6'000, 7)
        .resume(7'000, 7)
        .finish(8'000, 7);
    return load(built);
}

analysis::await_info first_await(const analysis::trace& loaded) {
    return await(loaded, task(loaded, 7), 0);
}

}  // namespace

TEST_CASE("the expiry of a timer is the wake of the await that the next resume ends") {
    const auto loaded = with_expiry(3'000);
    const analysis::await_info waited = first_await(loaded);
    CHECK(waited.reason == wake_reason::timer);
    CHECK(waited.wake_ns == 3'000);
    CHECK(waited.waker == analysis::none);
    CHECK(waited.waker_thread == analysis::none);
    const analysis::await_info later = await(loaded, task(loaded, 7), 1);
    CHECK(later.reason == wake_reason::unknown);
    CHECK_FALSE(later.wake_ns);
    check_time(task(loaded, 7).time, 3'000, 2'000, 2'000, 1'000);
    check_sound(loaded);
}

TEST_CASE("an expiry outside of the await counts as the nearer end of the await") {
    for (const std::int64_t expiry : {-900'000L, -1L, 999L})
        CHECK(first_await(with_expiry(expiry)).wake_ns == 1'000);
    for (const std::int64_t expiry : {5'001L, 900'000L})
        CHECK(first_await(with_expiry(expiry)).wake_ns == 5'000);
    const std::int64_t far = std::numeric_limits<std::int64_t>::max() - 10'000'000'000'000'000;
    CHECK(first_await(with_expiry(far)).wake_ns == 5'000);
}

TEST_CASE("a wake by a timer belongs to no resume on another thread") {
    trace_builder built;
    const std::int64_t monotonic_ns = built.header.start.monotonic_ns + 300;
    built.on(1).spawn(0, 7, 0, trace::spawn_started).suspend(100, 7);
    built.on(1).raw(static_cast<std::uint64_t>(monotonic_ns),
                    make_tag(trace::record_kind::wake, 0, trace::wake_timer), {7, 0});
    built.on(2).resume(500, 7).finish(600, 7);
    CHECK_FALSE(first_await(load(built)).wake_ns);
}

TEST_CASE("the task that cancelled an operation is the waker of its await") {
    trace_builder built;
    built.on(1).spawn(0, 7, 0, trace::spawn_started).suspend(100, 7).resume(500, 7).finish(600, 7);
    built.on(2).spawn(0, 9, 0, trace::spawn_started).finish(700, 9);
    built.on(2).wake(300, 7, 9, 2 | trace::wake_cancel);
    const auto loaded = load(built);
    const analysis::await_info waited = first_await(loaded);
    CHECK(waited.reason == wake_reason::cancellation);
    CHECK(waited.wake_ns == 300);
    CHECK(waited.waker == index_of(loaded, 9));
    REQUIRE(waited.waker_thread < loaded.threads.size());
    CHECK(loaded.threads[waited.waker_thread].id == 2);
}

TEST_CASE("a wake by a result that waited for the waker's executor has that reason") {
    trace_builder built;
    built.on(1).spawn(0, 7, 0, trace::spawn_started).suspend(100, 7);
    built.on(2).spawn(100, 9, 7, trace::spawn_started).finish(200, 9);
    built.on(2).wake(300, 7, 9, 2 | trace::wake_returned);
    built.on(1).resume(500, 7).finish(600, 7);
    const auto loaded = load(built);
    const analysis::await_info waited = first_await(loaded);
    CHECK(waited.reason == wake_reason::result);
    CHECK(waited.wake_ns == 300);
    CHECK(waited.waker == index_of(loaded, 9));
    REQUIRE(waited.waker_thread < loaded.threads.size());
    CHECK(loaded.threads[waited.waker_thread].id == 2);
}

TEST_CASE("a cancellation before the suspension wakes nothing, however short the time between") {
    trace_builder built;
    built.on(1).spawn(0, 7, 0, trace::spawn_started).suspend(100, 7);
    built.on(1).wake(99, 7, 0, 1 | trace::wake_cancel).resume(500, 7).finish(600, 7);
    CHECK_FALSE(first_await(load(built)).wake_ns);
}

TEST_CASE(
    "a handler is ready since its timer's expiry, but not before its spawn, and a cancellation "
    "before its spawn does not make it ready") {
    const auto first_wake = [](std::int64_t expiry, std::uint64_t cancelled) {
        trace_builder built;
        const std::int64_t monotonic_ns = built.header.start.monotonic_ns + expiry;
        built.on(1).spawn(200, 7, 0, trace::spawn_asio);
        if (cancelled != 0)
            built.on(1).wake(static_cast<std::int64_t>(cancelled), 7, 0, 1 | trace::wake_cancel);
        else
            built.on(1).raw(static_cast<std::uint64_t>(monotonic_ns),
                            make_tag(trace::record_kind::wake, 0, trace::wake_timer), {7, 0});
        built.on(1).resume(500, 7).finish(600, 7);
        return task(load(built), 7).first_wake_ns;
    };
    CHECK(first_wake(300, 0) == 300);
    CHECK(first_wake(100, 0) == 200);
    CHECK(first_wake(700, 0) == 500);
    CHECK(first_wake(0, 300) == 300);
    CHECK(first_wake(0, 199) == 500);
}

TEST_CASE("views say that a timer or a cancellation was the reason for a wake") {
    const auto loaded = with_expiry(3'000);
    const std::string rows =
        analysis::to_csv(analysis::list_task_awaits(loaded, index_of(loaded, 7)));
    CHECK(rows.find(",timer,") != std::string::npos);
    CHECK(coroscope_tests::exported(loaded).find("\"wake\":\"timer\"") != std::string::npos);
}

TEST_CASE("a task that completes a future is the waker, not the task that left its thread before") {
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 7, 0, trace::spawn_started).suspend(10, 7, site);
    built.on(2).spawn(1, 8).resume(1, 8).finish(20, 8);
    built.on(2).spawn(30, 9).resume(40, 9);
    built.on(2).resume(500, 7, 9, trace::resume_handed_over).finish(510, 7, 9).finish(600, 9);
    const auto loaded = load(built);
    const analysis::await_info waited = first_await(loaded);
    REQUIRE(waited.waker < loaded.tasks.size());
    CHECK(loaded.tasks[waited.waker].id == 9);
    CHECK(waited.wake_ns == 500);
    CHECK(waited.resume_ns == 500);
    check_sound(loaded);
}

TEST_CASE("a thread without a task that completes a future is no task that it resumed before") {
    constexpr std::uint32_t called = trace::resume_handed_over | trace::resume_called;
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 8, 0, trace::spawn_started).suspend(10, 8, site);
    built.on(1).spawn(15, 7, 0, trace::spawn_started).suspend(20, 7, site);
    built.on(2).resume(100, 8, 0, called).finish(110, 8);
    built.on(2).resume(500, 7, 0, called).finish(510, 7);
    const auto loaded = load(built);
    const analysis::await_info waited = await(loaded, task(loaded, 7), 0);
    CHECK(waited.waker == analysis::none);
    CHECK(waited.wake_ns == 500);
    check_sound(loaded);
}

TEST_CASE("a task that completes two futures woke both, though the first one's task has run") {
    constexpr std::uint32_t called = trace::resume_handed_over | trace::resume_called;
    trace_builder built;
    const auto site = built.site("co_await", "a.cpp", 5, trace::site_kind::await);
    built.on(1).spawn(0, 8, 0, trace::spawn_started).suspend(10, 8, site);
    built.on(1).spawn(15, 7, 0, trace::spawn_started).suspend(20, 7, site);
    built.on(2).spawn(30, 9).resume(40, 9);
    built.on(2).resume(100, 8, 9, called).finish(110, 8, 9);
    built.on(2).resume(500, 7, 9, called).finish(510, 7, 9).finish(600, 9);
    const auto loaded = load(built);
    for (const std::uint64_t woken : {8, 7}) {
        const analysis::await_info waited = await(loaded, task(loaded, woken), 0);
        REQUIRE(waited.waker < loaded.tasks.size());
        CHECK(loaded.tasks[waited.waker].id == 9);
    }
    check_sound(loaded);
}
