// SPDX-License-Identifier: Apache-2.0

// A forked child never touches its parent's trace, during any work of its parent's threads.

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <coroscope/integration/nvtx.hpp>
#include <coroscope/step_tracker.hpp>

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/scratch_file.hpp"
#include "../../support/skip.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

// ThreadSanitizer confuses threads of the child with threads of its parent. AddressSanitizer's
// allocator may stay locked in the child of a process with several threads.
#if defined(__SANITIZE_THREAD__)
constexpr bool child_may_start_threads = false;
constexpr bool child_of_many_may_allocate = false;
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool child_may_start_threads = true;
constexpr bool child_of_many_may_allocate = false;
#else
constexpr bool child_may_start_threads = true;
constexpr bool child_of_many_may_allocate = true;
#endif

pid_t fork_into(const std::function<int()>& body) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(body());
    return child;
}

// The child's exit code; a child that hangs is killed and is a failure.
int wait_for(pid_t child) {
    int status = -1;
    for (int tries = 0; tries < 60'000; ++tries) {
        if (::waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        std::this_thread::sleep_for(1ms);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -2;
}

std::string content(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Forks again and again while other threads run `busy`. Returns the number of children that did not
// exit by themselves.
int forks_beside(const std::function<void()>& busy, const std::function<int()>& child) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
            while (!stop) busy();
        });
    int failed = 0;
    for (int round = 0; round < 200 && failed == 0; ++round)
        failed += wait_for(fork_into(child)) == 0 ? 0 : 1;
    stop = true;
    for (std::thread& thread : threads) thread.join();
    return failed;
}

void record_in_child() { COROSCOPE("in the child"); }

int record_own_session() {
    profile session{{.limit_bytes = 1U << 20}};
    if (session.status().state != session_state::recording) return 1;
    steps(10);
    auto trace = analysis::load(session.stop());
    return trace && count_steps(*trace) == 10 ? 0 : 2;
}

int record_beside_many() {
    steps(100);
    return child_of_many_may_allocate ? record_own_session() : 0;
}

}  // namespace

TEST_SUITE("fork") {
    TEST_CASE("a child records nothing into its parent's trace, and the parent goes on") {
        const scratch_file file;
        profile session{{.output = file.path()}};
        steps(5);
        CHECK(wait_for(fork_into([] {
                  steps(1000);
                  return 0;
              })) == 0);
        steps(5);
        session.stop();
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        REQUIRE(trace.threads.size() == 1);
        CHECK(steps_by_thread(trace)[0] == "0123401234");
    }

    TEST_CASE("a child without fork handlers that runs no scope leaves its parent's trace whole") {
        const scratch_file file;
        profile session{{.output = file.path()}};
        steps(5);
        const pid_t cloned = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
        REQUIRE(cloned >= 0);
        if (cloned == 0) ::_exit(0);
        CHECK(wait_for(cloned) == 0);
        pid_t spawned = -1;  // by glibc with CLONE_VFORK
        std::string program = "true";
        const std::array<char*, 2> arguments{program.data(), nullptr};
        REQUIRE(::posix_spawnp(&spawned, program.c_str(), nullptr, nullptr, arguments.data(),
                               ::environ) == 0);
        CHECK(wait_for(spawned) == 0);
        steps(5);
        session.stop();
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(trace.health.warnings.empty());
        CHECK(steps_by_thread(trace)[0] == "0123401234");
    }

    TEST_CASE("a child finds its parent's session stopped, and stopping it does no harm") {
        const scratch_file file;
        profile session{{.output = file.path(), .all_threads = true}};
        steps(5);
        CHECK(wait_for(fork_into([&] {
                  if (session.status().state != session_state::stopped) return 1;
                  return session.stop().empty() ? 0 : 2;
              })) == 0);
        steps(5);
        CHECK(session.status().state == session_state::recording);
        session.stop();
        CHECK(count_steps(load(std::string(file.path()))) == 10);
    }

    TEST_CASE("a child may record sessions of its own, as often as it forks again") {
        if (!child_may_start_threads) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        profile session{{.limit_bytes = 1U << 20}};
        steps(5);
        const std::function<int(int)> generation = [&](int depth) {
            profile mine{{.limit_bytes = 1U << 20}};
            if (mine.status().state != session_state::recording) return 1;
            if (depth == 0) return record_own_session() == 1 ? 0 : 2;  // `mine` is on
            return wait_for(fork_into([&] { return generation(depth - 1); }));
        };
        CHECK(wait_for(fork_into([&] { return generation(10); })) == 0);
        CHECK(wait_for(fork_into(record_own_session)) == 0);
        CHECK(count_steps(load(session.stop())) == 5);
    }

    TEST_CASE("a child may record a session of its own into a file, and each file holds its own "
              "process's records alone") {
        if (!child_may_start_threads) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        const scratch_file parents;
        const scratch_file childs;
        profile session{{.output = parents.path(), .all_threads = true}};
        steps(3);
        const pid_t child = fork_into([&] {
            steps(1000);  // in no session
            profile mine{{.output = childs.path(), .all_threads = true}};
            if (mine.status().state != session_state::recording) return 1;
            for (int i = 0; i < 20'000; ++i) record_in_child();
            mine.stop();
            return mine.status().error_number;
        });
        CHECK(wait_for(child) == 0);
        steps(4);
        session.stop();
        const analysis::trace in_child = load(std::string(childs.path()));
        CHECK(in_child.health.finished);
        CHECK(in_child.process_id == static_cast<std::uint32_t>(child));
        CHECK(count(in_child, "in the child") + in_child.health.dropped_newest == 20'000);
        CHECK(count(in_child, "in the child") > 1000);
        CHECK(in_child.events.size() == count(in_child, "in the child"));
        const analysis::trace in_parent = load(std::string(parents.path()));
        CHECK(in_parent.health.finished);
        CHECK(in_parent.process_id == static_cast<std::uint32_t>(::getpid()));
        REQUIRE(in_parent.threads.size() == 1);
        CHECK(steps_by_thread(in_parent)[0] == "0120123");
        CHECK(in_parent.events.size() == 7);
    }

    TEST_CASE("a function that names a trace may fork, and ask for another session") {
        if (!child_may_start_threads) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        static std::optional<profile> other;
        static bool did_both = false;
        const auto name = []() noexcept -> const char* {
            did_both = other->status().state == session_state::recording &&
                       wait_for(fork_into([] { return 0; })) == 0;
            return "named";
        };
        const std::function<int()> record_named = [&] {
            std::thread([] { other.emplace(profile_options{.limit_bytes = 1U << 20}); }).join();
            const profile named{{.trace_id = name}};
            return did_both && named.status().state == session_state::recording ? 0 : 1;
        };
        CHECK(wait_for(fork_into(record_named)) == 0);
    }

    TEST_CASE("a child that outlives its parent's session leaves the finished file as it is") {
        const scratch_file file;
        profile session{{.output = file.path()}};
        steps(5);
        const pid_t child = fork_into([] {
            for (int i = 0; i < 30; ++i) {
                steps(500);
                std::this_thread::sleep_for(1ms);
            }
            return 0;
        });
        session.stop();
        const std::string finished = content(file.path());
        CHECK(wait_for(child) == 0);
        CHECK(content(file.path()) == finished);
    }

    TEST_CASE("forks while other threads start sessions leave no child waiting for the loader") {
        if (!child_of_many_may_allocate) {
            COROSCOPE_SKIP("under the sanitizers a child of several threads may not allocate");
            return;
        }
        std::atomic<bool> stop{false};
        std::vector<std::thread> threads;
        for (int i = 0; i < 2; ++i)
            threads.emplace_back([&] {
                while (!stop) profile refused{{.limit_bytes = 1}};
            });
        int hung = 0;
        for (int round = 0; round < 100 && hung == 0; ++round)
            hung += wait_for(fork_into([] {
                        const profile mine{{.limit_bytes = 1U << 20}};
                        return mine.status().state == session_state::recording ? 0 : 1;
                    })) != 0
                        ? 1
                        : 0;
        CHECK(hung == 0);
        stop = true;
        for (std::thread& thread : threads) thread.join();
    }

    TEST_CASE("forks while other threads count steps leave no child waiting") {
        const auto count = [] { step_tracker::increment("busy"); };
        CHECK(forks_beside(
                  count, [] { return step_tracker::increment("child").delta == 1 ? 0 : 1; }) == 0);
        step_tracker::erase("busy");
    }

    TEST_CASE("an observer of steps may fork, and parent and child go on counting") {
        static int exit_code = -1;
        static bool forked = false;  // the observer sees the child's step, too
        const auto fork_here = [](void*, std::int64_t, std::int64_t) noexcept {
            if (std::exchange(forked, true)) return;
            exit_code = wait_for(
                fork_into([] { return step_tracker::increment("child").delta == 1 ? 0 : 1; }));
        };
        const int handle = step_tracker::add_observer(fork_here, nullptr);
        step_tracker::increment("parent");
        CHECK(exit_code == 0);
        CHECK(step_tracker::remove_observer(handle));
        CHECK(step_tracker::increment("parent").delta == 1);
        step_tracker::erase("parent");
    }

    TEST_CASE("observers of steps may fork while other threads do") {
        const auto fork_here = [](void*, std::int64_t, std::int64_t) noexcept {
            wait_for(fork_into([] { return 0; }));
        };
        const int handle = step_tracker::add_observer(fork_here, nullptr);
        const auto count_and_rest = [] {
            step_tracker::increment("busy");
            std::this_thread::sleep_for(1ms);
        };
        CHECK(forks_beside(count_and_rest, [] { return 0; }) == 0);
        CHECK(step_tracker::remove_observer(handle));
        step_tracker::erase("busy");
    }

    TEST_CASE("forks while other threads show scopes and tasks to NVTX leave no child waiting") {
        if (!child_of_many_may_allocate) {
            COROSCOPE_SKIP("under the sanitizers a child of several threads may not allocate");
            return;
        }
        const emit_nvtx emit{{.record_shapes = true, .all_threads = true, .tasks = true}};
        if (!emit.active()) {
            COROSCOPE_SKIP("built without NVTX");
            return;
        }
        const auto show = [] {
            COROSCOPE_CAT("net", 1, "shown");
            sync_wait([]() -> task<void> { co_return; }());
        };
        CHECK(forks_beside(show, [&] {
                  show();
                  return 0;
              }) == 0);
    }

    TEST_CASE("forks while other threads start, register, record and end leave no child waiting") {
        const scratch_file file;
        std::atomic<bool> stop{false};
        profile session{{.output = file.path(), .all_threads = true, .policy = overflow::wait}};
        constexpr std::uint64_t most_steps = 500'000;  // whose records the trace has room for
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&] {
                for (std::uint64_t number = 0; !stop; ++number) {
                    if (number < most_steps) step(number);
                    if (number % 32 == 0) std::this_thread::sleep_for(200us);
                }
            });
        threads.emplace_back([&] {
            while (!stop) {
                std::thread([] { steps(3); }).join();
                std::thread([] { record_own_session(); }).join();
            }
        });
        for (int round = 0; round < 25; ++round)
            CHECK(wait_for(fork_into(record_beside_many)) == 0);
        stop = true;
        for (std::thread& thread : threads) thread.join();
        session.stop();
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.dropped_newest == 0);
        for (const std::string& digits : steps_by_thread(trace)) CHECK(is_whole_sequence(digits));
    }
}
