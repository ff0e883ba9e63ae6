// SPDX-License-Identifier: Apache-2.0

// Libraries without symmetric transfer, which resume a child in await_suspend and an awaiter in the
// final suspension, the same libraries with symmetric transfer, and joins with both.

#include <coroscope/instrumented.hpp>

#include <doctest/doctest.h>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../support/recording.hpp"

namespace in_place {

// A child is resumed by a call, and the result of await_suspend depends on whether the child has
// ended by then.
template <bool Transfers>
struct task {
    struct promise_type {
        std::coroutine_handle<> awaiter;
        bool both = false;  // set by the end of the child and by the suspension of its awaiter
        task get_return_object() {
            return task{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        auto final_suspend() const noexcept {
            struct awaiting {
                bool await_ready() const noexcept { return false; }
                auto await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
                    promise_type& promise = ended.promise();
                    if constexpr (Transfers) {
                        return promise.awaiter ? promise.awaiter : std::noop_coroutine();
                    } else if (std::exchange(promise.both, true) && promise.awaiter) {
                        promise.awaiter.resume();
                    }
                }
                void await_resume() const noexcept {}
            };
            return awaiting{};
        }
        void unhandled_exception() const noexcept {}
        void return_void() const noexcept {}
    };

    explicit task(std::coroutine_handle<promise_type> of) noexcept : coroutine(of) {}
    task(task&& other) noexcept : coroutine(std::exchange(other.coroutine, {})) {}
    ~task() {
        if (coroutine) coroutine.destroy();
    }

    bool await_ready() const noexcept { return false; }
    auto await_suspend(std::coroutine_handle<> awaiter) const {
        coroutine.promise().awaiter = awaiter;
        if constexpr (Transfers) {
            return std::coroutine_handle<>(coroutine);
        } else {
            coroutine.resume();
            return !std::exchange(coroutine.promise().both, true);
        }
    }
    void await_resume() const noexcept {}

    std::coroutine_handle<promise_type> coroutine;
};

// Resumes its children in await_suspend. The child that ends last resumes the awaiter.
struct when_all {
    std::vector<task<true>>* children;
    std::size_t left = 0;
    std::coroutine_handle<> awaiter;

    bool await_ready() const noexcept { return children->empty(); }
    void await_suspend(std::coroutine_handle<> of) {
        awaiter = of;
        left = children->size();
        for (const task<true>& each : *children) each.coroutine.resume();
    }
    void await_resume() const noexcept {}
    void child_ended() {
        if (--left == 0) awaiter.resume();
    }
};

struct event {
    std::coroutine_handle<> waiting;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> of) noexcept { waiting = of; }
    void await_resume() const noexcept {}
    void set() { std::exchange(waiting, {}).resume(); }
};

}  // namespace in_place

COROSCOPE_INSTRUMENT_COROUTINE(in_place::task<false>);
COROSCOPE_INSTRUMENT_COROUTINE(in_place::task<true>);

namespace {

using namespace coroscope;
using namespace coroscope::test;

template <bool Transfers>
struct family {
    using task = in_place::task<Transfers>;
    static task leaf() {
        volatile int work = 0;
        while (work < 10'000) work = work + 1;
        co_return;
    }
    static task middle() { co_await leaf(); }
    static task signal(in_place::event& of) { co_await of; }
    static task root(in_place::event& of) {
        co_await middle();
        co_await signal(of);
        co_await middle();
    }
    static recorded record() {
        in_place::event event;
        recording session;
        const task running = root(event);
        running.coroutine.resume();
        event.set();
        REQUIRE(running.coroutine.done());
        return session.stop();
    }
};

std::uint32_t of_function(const recorded& trace, std::uint32_t task) {
    return task == analysis::none ? task : trace.trace.tasks[task].spawn_site;
}

template <bool Transfers>
void check_family() {
    const recorded trace = family<Transfers>::record();
    std::int64_t running_ns = 0;
    for (const analysis::task_info& each : trace.trace.tasks) running_ns += each.time.running_ns;
    const analysis::task_info& root = trace.task("root");
    CHECK(running_ns <= root.time.wall_ns());

    const auto awaits = trace.awaits(root);
    REQUIRE(awaits.size() == 3);
    for (const std::size_t at : {0U, 1U, 2U}) {
        CAPTURE(at);
        CHECK(awaits[at].awaited != analysis::none);
        CHECK(awaits[at].waker == awaits[at].awaited);
        CHECK(awaits[at].wake_ns.has_value());
        CHECK(trace.trace.tasks[awaits[at].awaited].awaiter == trace.task_index("root"));
    }
    const std::uint32_t middle = trace.trace.tasks[trace.tasks("middle")[0]].spawn_site;
    CHECK(of_function(trace, awaits[0].awaited) == middle);
    CHECK(of_function(trace, awaits[1].awaited) == trace.task("signal").spawn_site);
    CHECK(of_function(trace, awaits[2].awaited) == middle);

    for (const std::uint32_t index : trace.tasks("middle")) {
        const analysis::task_info& each = trace.trace.tasks[index];
        REQUIRE(each.awaits.size() == 1);
        const analysis::await_info& of_leaf = trace.trace.awaits[each.awaits[0]];
        REQUIRE(of_leaf.awaited != analysis::none);
        CHECK(each.time.suspended_ns >= trace.trace.tasks[of_leaf.awaited].time.running_ns);
        CHECK(each.time.waiting_ns == 0);
    }
}

in_place::task<true> child(in_place::event& starts, in_place::when_all& join) {
    co_await starts;
    join.child_ended();
}

in_place::task<true> joins(in_place::when_all& join) { co_await join; }

in_place::task<true> sets(in_place::event& event) {
    event.set();
    co_return;
}

}  // namespace

TEST_CASE("a child that a task resumes in place names that task as its awaiter, wakes it, and runs "
          "while it is suspended") {
    check_family<false>();
}

TEST_CASE("a child that a task resumes by symmetric transfer names that task as its awaiter, too, "
          "wakes it, and runs while it is suspended") {
    check_family<true>();
}

TEST_CASE("a task that another task resumes in its own code has that task as its waker, and no "
          "time of wake") {
    in_place::event first, second;
    std::vector<in_place::task<true>> children;
    in_place::when_all join{&children, 0, {}};
    recording session;
    children.push_back(child(first, join));
    children.push_back(child(second, join));
    const auto joining = joins(join);
    joining.coroutine.resume();
    const auto setting = sets(second);
    first.set();
    setting.coroutine.resume();
    REQUIRE(joining.coroutine.done());
    const recorded trace = session.stop();

    const auto found = trace.tasks("child");
    REQUIRE(found.size() == 2);
    const auto awaits = trace.awaits(trace.trace.tasks[found[1]]);
    REQUIRE(!awaits.empty());
    CHECK(awaits[0].waker == trace.task_index("sets"));
    CHECK_FALSE(awaits[0].wake_ns.has_value());
    // The child that counted down to zero resumed the join's awaiter in the middle of its own code.
    const auto joined = trace.awaits(trace.task("joins"));
    REQUIRE(joined.size() == 1);
    CHECK(joined[0].waker == found[1]);
    const auto handed_over = trace.awaits(trace.task("sets"));
    REQUIRE(handed_over.size() == 1);
    CHECK(handed_over[0].handed_over);
    CHECK(handed_over[0].awaited == found[1]);
}
