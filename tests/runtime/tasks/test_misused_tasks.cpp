// SPDX-License-Identifier: Apache-2.0

// Debug builds refuse to await an empty or finished task, with one line that names the place. This
// program is compiled without NDEBUG.

#include <coroscope/coroscope.hpp>

#include <csignal>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

using coroscope::task;

namespace {

struct ended_process {
    int signal = 0;
    std::string said;
};

template <class Body>
ended_process run_in_child(Body body) {
    int said[2];
    REQUIRE(::pipe(said) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(said[1], STDERR_FILENO);
        ::signal(SIGABRT, SIG_DFL);  // doctest's handler would report the case as failed
        body();
        ::_exit(0);
    }
    ::close(said[1]);
    ended_process ended;
    char part[512];
    for (ssize_t bytes = 0; (bytes = ::read(said[0], part, sizeof part)) > 0;)
        ended.said.append(part, static_cast<std::size_t>(bytes));
    ::close(said[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return ended;
}

template <class Body>
void check_refused(Body body, const std::string& problem, int line) {
    const ended_process ended = run_in_child(body);
    CAPTURE(ended.said);
    CHECK(ended.signal == SIGABRT);
    CHECK(ended.said.starts_with("coroscope: " + problem));
    CHECK(ended.said.ends_with("test_misused_tasks.cpp:" + std::to_string(line) + "\n"));
    CHECK(ended.said.find('\n') == ended.said.size() - 1);
}

const std::string is_empty = "an empty task (default-constructed or moved from) is awaited; ";
const std::string has_finished = "a task that has finished is awaited again; ";

task<int> seven() { co_return 7; }

constexpr int line_of_await = __LINE__ + 1;
task<int> await_it(task<int>& awaited) { co_return co_await awaited; }

// A coroutine that is no task: the profiler does not see it.
struct plain_coroutine {
    struct promise_type {
        plain_coroutine get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept {}
    };
};
constexpr int line_of_plain_await = __LINE__ + 1;
plain_coroutine await_plainly(task<int>& awaited) { (void)co_await awaited; }

}  // namespace

TEST_SUITE("misused tasks") {
    TEST_CASE("sync_wait refuses an empty, a moved-from and a finished task") {
        constexpr int line = __LINE__ + 1;
        const auto wait = [](task<int>& waited) { (void)coroscope::sync_wait(waited); };
        task<int> none;
        check_refused([&] { wait(none); }, is_empty, line);
        task<int> given = seven();
        task<int> taken = static_cast<task<int>&&>(given);
        check_refused([&] { wait(given); }, is_empty, line);
        CHECK(coroscope::sync_wait(taken) == 7);
        check_refused([&] { wait(taken); }, has_finished, line);
    }

    TEST_CASE("co_await in a task refuses an empty and a finished task") {
        task<int> none;
        check_refused([&] { coroscope::sync_wait(await_it(none)); }, is_empty, line_of_await);
        task<int> ended = seven();
        coroscope::sync_wait(await_it(ended));
        check_refused([&] { coroscope::sync_wait(await_it(ended)); }, has_finished, line_of_await);
    }

    TEST_CASE("co_await in a coroutine that is no task refuses an empty and a finished task, too") {
        task<int> none;
        check_refused([&] { await_plainly(none); }, is_empty, line_of_plain_await);
    }
}
