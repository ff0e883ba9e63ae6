// SPDX-License-Identifier: Apache-2.0

// Sessions that start or stop inside nested tasks: generators that resume each other, and children
// that start at once.

#include <coroscope/instrumented.hpp>

#include <doctest/doctest.h>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "../support/recording.hpp"

namespace nested {

template <class Initial>
struct coroutine {
    struct promise_type {
        coroutine get_return_object() {
            return coroutine{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        Initial initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        std::suspend_always yield_value(int) const noexcept { return {}; }
        void unhandled_exception() const noexcept {}
        void return_void() const noexcept {}
    };

    explicit coroutine(std::coroutine_handle<promise_type> of) noexcept : handle(of) {}
    coroutine(coroutine&& other) noexcept : handle(std::exchange(other.handle, {})) {}
    ~coroutine() {
        if (handle) handle.destroy();
    }
    bool next() const {
        handle.resume();
        return !handle.done();
    }

    std::coroutine_handle<promise_type> handle;
};

using generator = coroutine<std::suspend_always>;
using eager = coroutine<std::suspend_never>;

}  // namespace nested

COROSCOPE_INSTRUMENT_COROUTINE(nested::generator);
COROSCOPE_INSTRUMENT_COROUTINE(nested::eager);

namespace {

using namespace coroscope;
using namespace coroscope::test;

constexpr int depth = 5;

void work() {
    volatile int steps = 0;
    while (steps < 1000) steps = steps + 1;
}

// Resumes the generator below it for each item. The innermost generator calls `act`.
nested::generator walk(int levels, const std::function<void()>& act) {
    if (levels == 1) {
        act();
        work();
        co_yield 1;
    } else {
        const nested::generator inner = walk(levels - 1, act);
        while (inner.next()) {
            work();
            co_yield levels;
        }
    }
    work();
}

nested::eager start(int levels, const std::function<void()>& act) {
    if (levels == 1) {
        act();
    } else {
        const nested::eager inner = start(levels - 1, act);
        work();
    }
    work();
    co_return;
}

// Starts a session on request.
struct late_session {
    explicit late_session(bool all_threads) : options{.all_threads = all_threads} {}
    void begin() { session.emplace(options); }
    recorded stop() { return load(session->stop()); }

    profile_options options;
    std::optional<profile> session;
};

void check_complete(const recorded& found) {
    std::int64_t running_ns = 0;
    for (const analysis::task_info& each : found.trace.tasks) {
        CAPTURE(each.id);
        CHECK_FALSE(each.losses);
        running_ns += each.time.running_ns;
        if (each.first_wake_ns) check_sum(each, found.trace.duration_ns);
    }
    CHECK(running_ns <= found.trace.duration_ns);
}

// All tasks of that function are older than the session, ran during it and have ended.
void check_old_tasks(const recorded& found, const char* function) {
    check_complete(found);
    const auto tasks = found.tasks(function);
    CHECK(tasks.size() == depth);
    for (const std::uint32_t index : tasks) {
        const analysis::task_info& each = found.trace.tasks[index];
        CAPTURE(each.id);
        CHECK(each.older_than_session);
        CHECK(each.state == analysis::task_state::finished);
        CHECK(each.time.running_ns > 0);
    }
}

// The innermost of the nested tasks runs when the session ends, and the others are suspended.
void check_held(const recorded& found, const char* function) {
    check_complete(found);
    const auto tasks = found.tasks(function);
    REQUIRE(tasks.size() == depth);
    for (std::size_t at = 0; at < tasks.size(); ++at) {
        const analysis::task_info& each = found.trace.tasks[tasks[at]];
        CAPTURE(at);
        const bool is_innermost = at + 1 == tasks.size();
        CHECK(each.state ==
              (is_innermost ? analysis::task_state::running : analysis::task_state::suspended));
        if (is_innermost) continue;
        const auto awaits = found.awaits(each);
        REQUIRE_FALSE(awaits.empty());
        CHECK(awaits.back().clipped);
        CHECK(awaits.back().awaited == tasks[at + 1]);
        CHECK(awaits.back().waker == analysis::none);
        CHECK_FALSE(awaits.back().wake_ns.has_value());
        CHECK_FALSE(awaits.back().resume_ns.has_value());
        CHECK(each.time.waiting_ns == 0);
    }
}

task<int> leaf() {
    work();
    co_return 1;
}

// Starts the session after one of the two awaited tasks was made.
task<int> begin_between(late_session& late) {
    task<int> older = leaf();
    late.begin();
    const int sum = co_await std::move(older);
    co_return sum + co_await leaf();
}

}  // namespace

TEST_CASE("a session that the innermost of nested generators starts loses nothing of the other "
          "generators") {
    late_session late(true);
    SUBCASE("the session records all threads") {}
    SUBCASE("the session records one thread") { late.options.all_threads = false; }
    const std::function<void()> begin = [&late] { late.begin(); };
    const nested::generator outermost = walk(depth, begin);
    while (outermost.next()) work();
    check_old_tasks(late.stop(), "walk");
}

TEST_CASE(
    "a session that the innermost of nested children starts loses nothing of the other children") {
    late_session late(true);
    SUBCASE("the session records all threads") {}
    SUBCASE("the session records one thread") { late.options.all_threads = false; }
    const nested::eager outermost = start(depth, [&late] { late.begin(); });
    check_old_tasks(late.stop(), "start");
}

TEST_CASE("a second session that nested tasks start loses nothing of the tasks that the first "
          "session saw") {
    late_session late(true);
    std::optional<recording> first(std::in_place);
    const nested::eager outermost = start(depth, [&] {
        first->stop();
        first.reset();
        // The children below run without a session.
        const nested::eager inner = start(2, [&late] { late.begin(); });
    });
    check_complete(late.stop());
}

TEST_CASE("nested tasks in which a session stops are suspended, and the innermost one runs") {
    std::optional<recording> session(std::in_place);
    std::optional<recorded> found;
    const std::function<void()> stop = [&] { found.emplace(session->stop()); };
    SUBCASE("generators") {
        const nested::generator outermost = walk(depth, stop);
        outermost.next();
        check_held(*found, "walk");
    }
    SUBCASE("children that start at once") {
        const nested::eager outermost = start(depth, stop);
        check_held(*found, "start");
    }
}

TEST_CASE("a task that awaits a task from before the session returns to its own session, and loses "
          "nothing") {
    late_session late(false);
    CHECK(sync_wait(begin_between(late)) == 2);
    const recorded found = late.stop();
    check_complete(found);
    const analysis::task_info& awaiter = found.task("begin_between");
    CHECK(awaiter.state == analysis::task_state::finished);
    const auto awaits = found.awaits(awaiter);
    REQUIRE(awaits.size() == 2);
    CHECK(awaits[0].resume_ns.has_value());
    CHECK(awaits[1].awaited == found.task_index("leaf"));
}
