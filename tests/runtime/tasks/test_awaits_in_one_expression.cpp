// SPDX-License-Identifier: Apache-2.0

// Several awaits in one expression. g++ calls the first await_resume() after the last await of the
// expression, clang calls each at the end of its await. The traces are the same.

#include <coroscope/instrumented.hpp>
#include <coroscope/record_function.hpp>
#include <coroscope/task.hpp>

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../support/recording.hpp"
#include "../support/stepped_coroutine.hpp"

namespace {

using namespace coroscope;
using namespace coroscope::test;

int sum_of(int left, int right) { return left + right; }
int sum_of(int first, int second, int third) { return first + second + third; }

struct pair {
    int left, right;
    pair& add(int value) {
        left += value;
        return *this;
    }
};

task<int> own(int value) { co_return value; }

// --- the forms: each awaits several values and returns their sum --------------------------------------

// Left out: `?:` in a larger expression, and several awaits in the condition of `if`, `while` and
// `switch`. With g++ 12 these programs await too much or crash, with Coroscope and without.

stepped adds() { co_return co_await value_later{1} + co_await value_later{2}; }
stepped calls() {
    co_return sum_of(co_await value_later{1}, co_await value_later{2}, co_await value_later{4});
}
stepped chains() {
    pair added{0, 0};
    co_return added.add(co_await value_later{1}).add(co_await value_later{2}).left;
}
stepped initialises() {
    const pair values{co_await value_later{1}, co_await value_later{2}};
    co_return values.left + values.right;
}
stepped yields() { co_return (co_yield 1) + (co_yield 2); }
stepped yields_what_it_awaits() {
    co_return co_yield (co_await value_later{1} + co_await value_later{2});
}
stepped transforms() { co_return sum_of(co_await 1, co_await 2); }
stepped awaits_what_it_awaits() { co_return co_await (co_await 1 + co_await 2); }
stepped repeats() {
    int sum = 0;
    for (int round = 0; round < 3; ++round) sum += co_await 1 + co_await 2;
    co_return sum;
}
stepped iterates() {
    int sum = 0;
    for (const int each : std::array{co_await 1, co_await 2}) sum += each + co_await 0;
    co_return sum;
}
stepped begins_with_own() { co_return sum_of(co_await own(1), co_await 2); }
stepped ends_with_own() { co_return sum_of(co_await 1, co_await own(2)); }
stepped has_own_between() { co_return sum_of(co_await 1, co_await own(2), co_await 4); }

struct form {
    const char* name;
    stepped (*start)();
    std::size_t awaits;
    int result;
};
constexpr form forms[] = {
    {"adds", adds, 2, 3},
    {"calls", calls, 3, 7},
    {"chains", chains, 2, 3},
    {"initialises", initialises, 2, 3},
    {"yields", yields, 2, 3},
    {"yields_what_it_awaits", yields_what_it_awaits, 3, 3},
    {"transforms", transforms, 2, 3},
    {"awaits_what_it_awaits", awaits_what_it_awaits, 3, 3},
    {"repeats", repeats, 6, 9},
    {"iterates", iterates, 4, 3},
    {"begins_with_own", begins_with_own, 2, 3},
    {"ends_with_own", ends_with_own, 2, 3},
    {"has_own_between", has_own_between, 3, 7},
};

// --- the checks of each --------------------------------------------------------------------------------

stepped comes_after() { co_return co_await 0; }

// After `ended` is destroyed, the thread's scopes belong to no task.
void check_thread_is_free(std::optional<stepped>& ended) {
    ended.reset();
    const auto after = std::make_unique<record_function>("on the heap");
    comes_after().run();
}

void check_after(const recorded& found) {
    const analysis::task_info& after = found.task("comes_after");
    CHECK(after.parent == analysis::none);
    CHECK_FALSE(after.losses);
    CHECK(found.event("on the heap").task == analysis::none);
}

// `at_once` is the number of awaits that do not suspend.
void check_whole(const recorded& found, const analysis::task_info& task, std::size_t awaits,
                 std::size_t at_once = 0) {
    CHECK(task.state == analysis::task_state::finished);
    CHECK_FALSE(task.losses);
    CHECK(task.awaits.size() == awaits);
    CHECK(task.slices.size() == awaits - at_once + 1);
    check_sum(task, found.trace.duration_ns);
    for (const analysis::await_info& each : found.awaits(task)) {
        CHECK(each.resume_ns.has_value());
        CHECK_FALSE(each.clipped);
        CHECK(found.site_line(each.site) != 0);
    }
}

stepped labels() {
    const std::array values{co_await COROSCOPE_AWAIT("first", value_later{1}),
                            co_await COROSCOPE_AWAIT("own", own(2)), co_await value_later{4},
                            co_await COROSCOPE_AWAIT("last", value_later{8})};
    co_return std::accumulate(values.begin(), values.end(), 0);
}

// --- awaits that fail, and coroutines that do -----------------------------------------------------------

struct fails_at_the_end : value_later {
    int await_resume() const { throw std::runtime_error("no value"); }
};
struct fails_at_once : value_later {
    bool await_ready() const { throw std::runtime_error("not today"); }
};
struct fails_to_suspend : value_later {
    void await_suspend(std::coroutine_handle<>) const { throw std::runtime_error("not today"); }
};
struct goes_on_at_once : value_later {
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
};

// Each coroutine continues with one more await.
template <class First, class Second>
stepped catches() {
    int sum = 0;
    try {
        sum = co_await First{1} + co_await Second{2};
    } catch (const std::runtime_error&) {
        sum = 4;
    }
    co_return sum + co_await 8;
}

template <class First, class Second>
stepped fails() {
    co_return co_await First{1} + co_await Second{2};
}

template <class First, class Second>
void check_catching(int result, std::size_t at_once = 0) {
    recording session;
    std::optional<stepped> coroutine(catches<First, Second>());
    CHECK(coroutine->run() == result);
    const std::size_t awaits = coroutine->steps() - 1 + at_once;
    check_thread_is_free(coroutine);
    const recorded found = session.stop();
    check_whole(found, found.task("catches"), awaits, at_once);
    check_after(found);
}

template <class First, class Second>
void check_failing() {
    recording session;
    std::optional<stepped> coroutine(fails<First, Second>());
    coroutine->run();
    CHECK(coroutine->failed());
    check_thread_is_free(coroutine);
    const recorded found = session.stop();
    const analysis::task_info& task = found.task("fails");
    CHECK(task.state == analysis::task_state::failed);
    CHECK_FALSE(task.losses);
    check_after(found);
}

stepped is_destroyed() {
    co_return co_await value_later{1} + co_await value_later{2} + co_await value_later{3};
}

}  // namespace

TEST_SUITE("awaits in one expression") {
    TEST_CASE("each of several awaits is an await of its own, and the task leaves its thread when "
              "it ends") {
        for (const form& each : forms) {
            CAPTURE(each.name);
            recording session;
            std::optional<stepped> coroutine(each.start());
            CHECK(coroutine->run() == each.result);
            check_thread_is_free(coroutine);
            const recorded found = session.stop();
            check_whole(found, found.task(each.name), each.awaits);
            check_after(found);
        }
    }

    TEST_CASE("each of several awaits has its label") {
        recording session;
        CHECK(labels().run() == 15);
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("labels"));
        REQUIRE(awaits.size() == 4);
        CHECK(found.site_label(awaits[0].site) == "first");
        CHECK(found.site_label(awaits[1].site) == "own");
        CHECK(found.site_label(awaits[2].site).starts_with("co_await in"));
        CHECK(found.site_label(awaits[3].site) == "last");
    }

    TEST_CASE("if one of several awaits throws, the task is complete, and leaves its thread when "
              "it ends") {
        check_catching<fails_at_the_end, value_later>(12);
        check_catching<value_later, fails_at_the_end>(12);
        check_catching<value_later, fails_at_once>(12);
        check_catching<value_later, fails_to_suspend>(12, 1);
        check_catching<value_later, goes_on_at_once>(11, 1);
        check_failing<fails_at_the_end, value_later>();
        check_failing<value_later, fails_at_once>();
        check_failing<value_later, fails_to_suspend>();
    }

    TEST_CASE(
        "a coroutine that is destroyed between the awaits of an expression is abandoned there") {
        for (const unsigned steps : {1U, 2U, 3U}) {
            CAPTURE(steps);
            recording session;
            std::optional<stepped> coroutine(is_destroyed());
            for (unsigned step = 0; step < steps; ++step) coroutine->step();
            check_thread_is_free(coroutine);
            const recorded found = session.stop();
            const analysis::task_info& task = found.task("is_destroyed");
            CHECK(task.state == analysis::task_state::abandoned);
            CHECK_FALSE(task.losses);
            CHECK(task.awaits.size() == steps);
            CHECK(task.slices.size() == steps);
            check_after(found);
        }
    }

    TEST_CASE("the awaits of one expression may end on different threads, and the task leaves each "
              "of them") {
        recording session;
        std::optional<stepped> coroutine(is_destroyed());
        coroutine->step();
        for (int thread = 0; thread < 3; ++thread)
            std::thread([&] {
                coroutine->step();
                if (coroutine->done()) coroutine.reset();
                const auto after = std::make_unique<record_function>("on that thread");
            }).join();
        const recorded found = session.stop();
        const analysis::task_info& task = found.task("is_destroyed");
        check_whole(found, task, 3);
        std::vector<std::uint32_t> threads;
        for (const std::uint32_t index : task.slices)
            threads.push_back(found.trace.slices[index].thread);
        std::sort(threads.begin(), threads.end());
        CHECK(std::unique(threads.begin(), threads.end()) == threads.end());
        for (const analysis::event* each : found.events("on that thread"))
            CHECK(each->task == analysis::none);
    }
}
