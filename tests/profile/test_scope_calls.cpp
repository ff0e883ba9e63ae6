// SPDX-License-Identifier: Apache-2.0

// The functions between scopes in flame graphs, from the recorded stacks of scopes.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <coroscope/analysis/folded_stacks.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/task.hpp>

#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

[[gnu::noinline]] void work() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (std::chrono::steady_clock::now() < end) asm volatile("");
}

[[gnu::noinline]] void inner_function() {
    COROSCOPE("inside");
    work();
    asm volatile("");
}

[[gnu::noinline]] void middle_function() {
    inner_function();
    asm volatile("");
}

[[gnu::noinline]] void outer_function() {
    COROSCOPE("around");
    middle_function();
    asm volatile("");
}

[[gnu::noinline]] void directly_inside() {
    COROSCOPE("first");
    COROSCOPE("second");
    work();
    asm volatile("");
}

[[gnu::noinline]] void function_scope() {
    COROSCOPE_FUNCTION();
    work();
    asm volatile("");
}

task<> in_a_task() {
    middle_function();
    co_return;
}

struct job_queue {
    std::vector<std::function<void()>> jobs;

    template <class Job>
    void execute(Job job) {
        const auto shared = std::make_shared<Job>(std::move(job));
        jobs.emplace_back([shared] { (*shared)(); });
    }
};

void post_a_job(job_queue& queue) {
    executor_adaptor pool(queue);
    pool.execute([] { middle_function(); });
}

void run_a_job() {
    job_queue queue;
    post_a_job(queue);
    for (const auto& job : queue.jobs) job();
}

// The stacks of a program, without the thread's name and what is around `function`.
std::vector<std::string> stacks_of(void (*function)(), bool with_stack = true) {
    recording session({.with_stack = with_stack});
    function();
    const recorded found = session.stop();
    std::string text;
    const analysis::written done = analysis::export_folded_stacks(
        found.trace, analysis::folded_time::wall, [&](std::string_view part) {
            text += part;
            return true;
        });
    REQUIRE(done);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, text.rfind(' ', end) - at));
        at = end + 1;
    }
    return lines;
}

// Returns whether a stack ends with these frames, below the kind of time.
bool has(const std::vector<std::string>& stacks, const std::string& frames) {
    for (const std::string& each : stacks)
        if (each.substr(0, each.rfind(";[")).ends_with(frames)) return true;
    return false;
}

bool reads_symbols() {
    if (has(stacks_of(outer_function), "inner_function;inside")) return true;
    MESSAGE("SKIP: no library that reads symbols");
    return false;
}

}  // namespace

TEST_SUITE("calls between scopes") {
    TEST_CASE("the functions between two scopes are frames between them") {
        if (!reads_symbols()) return;
        const std::vector<std::string> stacks = stacks_of(outer_function);
        CHECK(has(stacks, ";outer_function;around;middle_function;inner_function;inside"));
        CHECK(has(stacks, ";outer_function;around"));
    }

    TEST_CASE("a scope in the function of the enclosing one has no function below it") {
        if (!reads_symbols()) return;
        CHECK(has(stacks_of(directly_inside), ";directly_inside;first;second"));
    }

    TEST_CASE("a scope that is named after its function has one frame") {
        if (!reads_symbols()) return;
        const std::vector<std::string> stacks = stacks_of(function_scope);
        CHECK(has(stacks, ";function_scope"));
        CHECK_FALSE(has(stacks, ";function_scope;function_scope"));
    }

    TEST_CASE("in a task they begin in the task's coroutine, not in what resumed it") {
        if (!reads_symbols()) return;
        const std::vector<std::string> stacks = stacks_of([] { sync_wait(in_a_task()); });
        CHECK(has(stacks, "in_a_task;middle_function;inner_function;inside"));
        for (const std::string& each : stacks) CHECK(each.find("sync_wait") == std::string::npos);
    }

    TEST_CASE("in a job they begin behind the last call of the library that runs it") {
        if (!reads_symbols()) return;
        const std::vector<std::string> stacks = stacks_of(run_a_job);
        CHECK(has(stacks, ";middle_function;inner_function;inside"));
        for (const std::string& each : stacks) CHECK(each.find("std::") == std::string::npos);
    }

    TEST_CASE("without recorded stacks the frames are the scopes") {
        CHECK(has(stacks_of(outer_function, false), ";around;inside"));
    }
}
