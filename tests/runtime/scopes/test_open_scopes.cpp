// SPDX-License-Identifier: Apache-2.0

// Scopes that have begun and not ended when a session stops or the process dies are named.

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/observer.hpp>
#include <coroscope/trace/reader.hpp>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/skip.hpp"
#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

profile_options naming() { return {.all_threads = true, .open_scopes = true}; }

bool is_open(const analysis::event* event) {
    return event != nullptr && (event->flags & analysis::event_open) != 0;
}

std::string parent_of(const analysis::trace& trace, const analysis::event* event) {
    if (event == nullptr || event->parent == analysis::none) return "";
    return label_of(trace, trace.events[event->parent]);
}

[[gnu::noinline]] void recurse(int depth, const std::function<void()>& at_the_bottom) {
    COROSCOPE("level");
    if (depth == 1) return at_the_bottom();
    recurse(depth - 1, at_the_bottom);
    __asm__ volatile("" ::: "memory");  // no tail call
}

foreign::manual<foreign::declared> waits_within_a_scope(slot& into) {
    COROSCOPE("in a frame");
    co_await suspend_into(into);
}

void handle_signal(int) { COROSCOPE("in a handler"); }

std::uint64_t open_chunks(const trace::buffer& bytes) {
    const auto read = trace::reader::open(bytes);
    REQUIRE(read);
    std::uint64_t count = 0;
    for (const trace::chunk_view& each : read->chunks())
        count += each.header.kind == trace::chunk_kind::open ? 1U : 0U;
    return count;
}

}  // namespace

TEST_SUITE("open scopes") {
    TEST_CASE("the open scopes of a session that stops are events up to its stop") {
        profile session(naming());
        analysis::trace trace;
        {
            COROSCOPE("outer");
            step(0);
            COROSCOPE("inner");
            trace = load(session.stop());
        }
        CHECK(trace.health.open_scopes == 2);
        CHECK(trace.health.unnamed_scopes == 0);
        const analysis::event* outer = find(trace, "outer");
        const analysis::event* inner = find(trace, "inner");
        REQUIRE(is_open(outer));
        REQUIRE(is_open(inner));
        CHECK(parent_of(trace, inner) == "outer");
        CHECK(parent_of(trace, find(trace, "step 0")) == "outer");
        CHECK(outer->end_ns == trace.duration_ns);
        CHECK(inner->end_ns == trace.duration_ns);
        CHECK(trace.threads[inner->thread].os_id == static_cast<std::uint64_t>(::getpid()));
    }

    TEST_CASE("open scopes are named only if the session asks for it, and ended scopes never count "
              "as open") {
        profile plain({.all_threads = true});
        analysis::trace trace;
        {
            COROSCOPE("outer");
            trace = load(plain.stop());
        }
        CHECK(count(trace, "outer") == 0);
        CHECK(trace.health.open_scopes == 0);

        profile session(naming());
        steps(1000);
        trace = load(session.stop());
        CHECK(count_steps(trace) == 1000);
        CHECK(trace.health.open_scopes == 0);
    }

    TEST_CASE("the first scope of a thread is named, though the thread has no record") {
        profile session(naming());
        std::atomic<int> stage{0};
        std::thread other([&] {
            ::pthread_setname_np(::pthread_self(), "other");
            COROSCOPE("first of its thread");
            stage = 1;
            while (stage != 2) std::this_thread::yield();
        });
        while (stage != 1) std::this_thread::yield();
        const analysis::trace trace = load(session.stop());
        stage = 2;
        other.join();
        const analysis::event* open = find(trace, "first of its thread");
        REQUIRE(is_open(open));
        CHECK(trace.threads[open->thread].name == "other");
    }

    TEST_CASE("a scope that ends after its session is not open in the next session, which keeps "
              "its own records") {
        auto first = std::make_unique<profile>(naming());
        std::optional<profile> second;
        {
            COROSCOPE("outlives its session");
            CHECK(load(first->stop()).health.open_scopes == 1);
            first.reset();
            second.emplace(naming());
            step(0);
        }
        step(1);
        const analysis::trace trace = load(second->stop());
        CHECK(trace.health.open_scopes == 0);
        const analysis::event* clipped = find(trace, "outlives its session");
        if (clipped != nullptr) CHECK_FALSE(is_open(clipped));
        CHECK(count_steps(trace) == 2);
    }

    TEST_CASE("many sessions may begin and end while a scope is open") {
        COROSCOPE("before all");
        for (int each = 0; each < 20; ++each) {
            profile session(naming());
            COROSCOPE("around");
            steps(10);
            const analysis::trace trace = load(session.stop());
            CHECK(trace.health.open_scopes == 1);
            CHECK(count_steps(trace) == 10);
        }
    }

    TEST_CASE("more scopes may be open than one chunk has places for") {
        constexpr int depth = 1000;
        profile_options options = naming();
        options.chunk_bytes = 4096;
        profile session(options);
        trace::buffer bytes;
        recurse(depth, [&] { bytes = session.stop(); });
        CHECK(open_chunks(bytes) > depth / 128);
        const analysis::trace trace = load(bytes);
        CHECK(trace.health.open_scopes == depth);
        CHECK(trace.health.unnamed_scopes == 0);
        std::uint32_t before = analysis::none;
        for (std::uint32_t at = 0; at < trace.events.size(); ++at) {
            if (!is_open(&trace.events[at])) continue;
            CHECK(trace.events[at].parent == before);
            before = at;
        }
    }

    TEST_CASE("a scope in the frame of a suspended task is named with its task") {
        profile session(naming());
        slot waiting;
        auto task = waits_within_a_scope(waiting);
        task.resume();
        const analysis::trace trace = load(session.stop());
        waiting.resume();
        const analysis::event* open = find(trace, "in a frame");
        REQUIRE(is_open(open));
        REQUIRE(open->task != analysis::none);
        CHECK((open->flags & analysis::event_in_frame) != 0);
        CHECK((open->flags & analysis::event_suspension_unknown) == 0);
        CHECK(trace.tasks[open->task].state == analysis::task_state::suspended);
        const analysis::time_split& time = trace.details[open->detail].time;
        CHECK(time.wall_ns() == open->end_ns - open->start_ns);
    }

    TEST_CASE("a scope may end on another thread, and gives its place back there") {
        constexpr int rounds = 2000;
        profile session(naming());
        std::atomic<foreign::manual<foreign::declared>*> handed{nullptr};
        std::atomic<bool> done{false};
        std::thread ends([&] {
            while (!done) {
                if (auto* task = handed.exchange(nullptr)) {
                    task->resume();
                    delete task;
                    handed.notify_all();
                }
                std::this_thread::yield();
            }
        });
        std::vector<slot> slots(rounds);
        for (slot& each : slots) {
            auto task =
                std::make_unique<foreign::manual<foreign::declared>>(waits_within_a_scope(each));
            task->resume();
            foreign::manual<foreign::declared>* none = nullptr;
            while (!handed.compare_exchange_weak(none, task.get())) {
                none = nullptr;
                std::this_thread::yield();
            }
            static_cast<void>(task.release());
        }
        while (handed != nullptr) std::this_thread::yield();
        done = true;
        ends.join();
        trace::buffer bytes = session.stop();
        CHECK(open_chunks(bytes) <= 1);
        const analysis::trace trace = load(bytes);
        CHECK(count(trace, "in a frame") == rounds);
        CHECK(trace.health.open_scopes == 0);
        CHECK(trace.health.unnamed_scopes == 0);
    }

    TEST_CASE("the names of open scopes are not overwritten") {
        profile_options options = naming();
        options.policy = overflow::overwrite_oldest;
        options.limit_bytes = std::size_t{256} << 10;
        options.chunk_bytes = 4096;
        profile session(options);
        analysis::trace trace;
        {
            COROSCOPE("older than all records");
            steps(100'000);
            trace = load(session.stop());
        }
        CHECK(trace.health.overwritten != 0);
        CHECK(is_open(find(trace, "older than all records")));
    }

    TEST_CASE("a trace without room for the names of open scopes counts the unnamed scopes") {
        profile_options options = naming();
        options.limit_bytes = std::size_t{48} << 10;
        options.chunk_bytes = 4096;
        profile session(options);
        analysis::trace trace;
        {
            COROSCOPE("not named");
            step(0);
            trace = load(session.stop());
        }
        CHECK(trace.health.open_scopes == 0);
        CHECK(trace.health.unnamed_scopes == 2);
        CHECK(count_steps(trace) == 1);
    }

    TEST_CASE("open scopes leave three quarters of a trace to its records") {
        profile_options options = naming();
        options.policy = overflow::overwrite_oldest;
        options.limit_bytes = std::size_t{256} << 10;
        options.chunk_bytes = 4096;
        options.thread_states = false;  // slow steps would leave more records of waits
        profile session(options);
        constexpr int depth = 8000;  // more than fit into all chunks
        recurse(depth, [] {});
        steps(100'000);
        trace::buffer bytes;
        recurse(depth, [&] { bytes = session.stop(); });
        CHECK(open_chunks(bytes) <= options.limit_bytes / options.chunk_bytes / 4);
        const analysis::trace trace = load(bytes);
        CHECK(trace.health.unnamed_scopes != 0);
        CHECK(count_steps(trace) >
              options.limit_bytes / 16 / 2);  // at least half of the trace is for records
    }

    TEST_CASE("scopes that end while collection is off do not count as open") {
        profile session(naming());
        {
            COROSCOPE("ends unseen");
            session.toggle_collection(false);
        }
        COROSCOPE("begins unseen");
        session.toggle_collection(true);
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.open_scopes == 0);
        CHECK(count(trace, "ends unseen") == 0);
    }

    TEST_CASE(
        "observers see named open scopes begin and end, and an open scope keeps its arguments") {
        int begun = 0;
        int ended = 0;
        const auto seen =
            add_global_observer(observer([&](const scope_info&) { ++begun; },
                                         [&](const scope_info&, observer_context*) { ++ended; }));
        profile_options options = naming();
        options.record_arguments = true;
        profile session(options);
        analysis::trace trace;
        {
            const int value = 42;
            COROSCOPE_ARGS("with arguments", value);
            step(0);
            trace = load(session.stop());
        }
        CHECK(remove_observer(seen));
        CHECK(begun == 2);
        CHECK(ended == 2);
        CHECK(trace.health.open_scopes == 1);
        const analysis::event* open = find(trace, "with arguments");
        REQUIRE(is_open(open));
        REQUIRE(open->detail != analysis::none);
        const std::uint32_t arguments = trace.details[open->detail].arguments;
        REQUIRE(arguments != analysis::none);
        CHECK(trace.strings[arguments].find("42") != std::string::npos);
    }

    TEST_CASE("scopes in signal handlers leave no scope open") {
        struct sigaction ours{};
        ours.sa_handler = handle_signal;
        struct sigaction before{};
        REQUIRE(::sigaction(SIGUSR1, &ours, &before) == 0);
        profile session(naming());
        std::atomic<bool> done{false};
        const pthread_t self = ::pthread_self();
        std::thread interrupts([&] {
            while (!done) ::pthread_kill(self, SIGUSR1);
        });
        steps(20'000);
        done = true;
        interrupts.join();
        const analysis::trace trace = load(session.stop());
        ::sigaction(SIGUSR1, &before, nullptr);
        CHECK(count_steps(trace) == 20'000);
        CHECK(trace.health.open_scopes == 0);
    }

    TEST_CASE("threads may record while sessions begin and end") {
        std::atomic<bool> done{false};
        std::vector<std::thread> threads;
        for (int each = 0; each < 3; ++each)
            threads.emplace_back([&done] {
                while (!done) recurse(40, [] { step(0); });
            });
        for (int each = 0; each < 30; ++each) {
            profile session(naming());
            std::this_thread::yield();
            steps(100);
            const analysis::trace trace = load(session.stop());
            CHECK(trace.health.open_scopes <= 3 * 41);
        }
        done = true;
        for (std::thread& each : threads) each.join();
    }

    TEST_CASE("a forked child's open scopes are not its parent's") {
        profile session(naming());
        analysis::trace trace;
        {
            COROSCOPE("around the fork");
            pid_t child = -1;
            {
                COROSCOPE("ends in both");
                child = ::fork();
                REQUIRE(child >= 0);
            }
            if (child == 0) {
                profile own(naming());
                COROSCOPE("in the child");
                const auto found = analysis::load(own.stop());
                const bool right = found && found->health.open_scopes == 1 &&
                                   is_open(find(*found, "in the child"));
                ::_exit(right ? 0 : 1);
            }
            int status = -1;
            REQUIRE(::waitpid(child, &status, 0) == child);
#if !defined(__SANITIZE_THREAD__)
            CHECK(status == 0);
#endif
            trace = load(session.stop());
        }
        CHECK(trace.health.open_scopes == 1);
        CHECK(is_open(find(trace, "around the fork")));
        CHECK(count(trace, "ends in both") == 1);
    }

    TEST_CASE("the open scopes of a killed process are named, and no ended scope is") {
        const scratch_file file;
        const program_end end = run_program({"kill", file.path()}, {}, OPEN_PROGRAM);
        CHECK(end.signal() == SIGKILL);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK_FALSE(trace.health.finished);
        CHECK(trace.health.open_scopes == 3);
        CHECK(count(trace, "parse") == 21);
        CHECK(parent_of(trace, find(trace, "lock that never comes")) == "handle request");
        CHECK(is_open(find(trace, "lock that never comes")));
        CHECK(is_open(find(trace, "main loop")));
        CHECK(count(trace, "handle request") == 21);
    }

    TEST_CASE("the open scopes of a process that runs under COROSCOPE_OPEN_SCOPES are named") {
        const scratch_file file;
        const program_end end = run_program(
            {"environment"}, {{"COROSCOPE_TRACE", file.path()}, {"COROSCOPE_OPEN_SCOPES", "1"}},
            OPEN_PROGRAM);
        CHECK(end.signal() == SIGKILL);
        CHECK(load(std::string(file.path())).health.open_scopes == 3);
    }

    TEST_CASE("COROSCOPE_OPEN_SCOPES applies to a session in the code that does not ask for open "
              "scopes itself") {
        const scratch_file file;
        const auto left_open = [&file](const char* mode, const variables& environment) {
            CHECK(run_program({mode, file.path()}, environment, OPEN_PROGRAM).signal() == SIGKILL);
            return load(std::string(file.path())).health.open_scopes;
        };
        CHECK(left_open("unasked", {}) == 0);
        CHECK(left_open("unasked", {{"COROSCOPE_OPEN_SCOPES", "0"}}) == 0);
        CHECK(left_open("unasked", {{"COROSCOPE_OPEN_SCOPES", "1"}}) == 3);
        CHECK(left_open("kill", {{"COROSCOPE_OPEN_SCOPES", "0"}}) == 3);
    }

    TEST_CASE("the report of a fatal signal names the open scopes of its thread, innermost first") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        COROSCOPE_SKIP("a sanitizer has the signals");
#else
        const scratch_file file;
        const program_end end = run_program({"abort", file.path()}, {}, OPEN_PROGRAM);
        CHECK(end.signal() == SIGABRT);
        const std::size_t at =
            end.output.find("open scopes there, innermost first:\n  lock that never comes (");
        REQUIRE(at != std::string::npos);
        const std::string lines = end.output.substr(at);
        CHECK(lines.find("handle request (") < lines.find("main loop ("));
        CHECK(lines.find("of another thread") == std::string::npos);
        CHECK(load(std::string(file.path())).health.open_scopes == 4);
#endif
    }
}
