// SPDX-License-Identifier: Apache-2.0

// Threads with a few records each: many share a chunk, one after the other, and each is read as if
// it had a chunk of its own.

#include <coroscope/attribute.hpp>
#include <coroscope/context.hpp>
#include <coroscope/record_function.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../support/scratch_file.hpp"
#include "../../support/skip.hpp"
#include "../support/build.hpp"
#include "../support/scale.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t most_bytes_per_thread = 512;

template <class Work>
void in_turn(std::size_t threads, Work work) {
    for (std::size_t number = 0; number < threads; ++number)
        std::thread([&] { work(number); }).join();
}

void one_scope() { COROSCOPE("short"); }

// Runs threads that all exist before the first one ends.
void at_once(std::size_t threads) {
    std::barrier all_there(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::thread> running;
    running.reserve(threads);
    for (std::size_t number = 0; number < threads; ++number)
        running.emplace_back([&] {
            one_scope();
            all_there.arrive_and_wait();
        });
    for (std::thread& thread : running) thread.join();
}

std::size_t threads_with_one_scope(const analysis::trace& trace) {
    std::vector<std::size_t> scopes(trace.threads.size(), 0);
    for (const analysis::event& event : trace.events)
        if (label_of(trace, event) == "short") ++scopes[event.thread];
    return static_cast<std::size_t>(std::count(scopes.begin(), scopes.end(), std::size_t{1}));
}

std::uint64_t chunks_of(const trace::buffer& bytes, std::uint32_t chunk_bytes) {
    return (bytes.size() - trace::file_header_bytes) / chunk_bytes;
}

// Calls of a signal handler whose thread is about to end, or is ending.
std::atomic<std::uint64_t> handled{0};
void on_signal(int) {
    {
        COROSCOPE("in a handler");
    }
    handled.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

TEST_SUITE("short threads") {
    TEST_CASE("a thread with one scope costs no more than 512 bytes of the trace, its description "
              "included") {
        constexpr std::size_t threads = 2'000;
        profile session{{.all_threads = true, .thread_states = false}};
        in_turn(threads, [](std::size_t) { one_scope(); });
        const trace::buffer bytes = session.stop();
        // Two more chunks are allowed: one with names and a begun one.
        CHECK(bytes.size() <
              threads * most_bytes_per_thread + trace::file_header_bytes + 2 * 32'768);
        const analysis::trace trace = load(bytes);
        CHECK(threads_with_one_scope(trace) == threads);
        CHECK(trace.health.dropped_newest == 0);
    }

    TEST_CASE("a flight recorder keeps as many records as its bytes allow, however many threads "
              "wrote them") {
        const auto threads = sized<std::size_t>(4'000, 50'000);
        profile session{{.all_threads = true,
                         .policy = overflow::overwrite_oldest,
                         .limit_bytes = threads * most_bytes_per_thread,
                         .thread_states = false}};
        in_turn(threads, [](std::size_t) { one_scope(); });
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten == 0);
        CHECK(threads_with_one_scope(trace) == threads);
    }

    TEST_CASE(
        "threads that live at once have a chunk each, and later threads use the same chunks") {
        const auto threads = sized<std::size_t>(200, 1'000);
        constexpr std::uint32_t chunk_bytes = 4096;
        std::uint64_t chunks[2];
        for (const std::size_t waves : {std::size_t{1}, std::size_t{2}}) {
            profile session{
                {.all_threads = true, .chunk_bytes = chunk_bytes, .thread_states = false}};
            for (std::size_t wave = 0; wave < waves; ++wave) at_once(threads);
            const trace::buffer bytes = session.stop();
            chunks[waves - 1] = chunks_of(bytes, chunk_bytes);
            CHECK(threads_with_one_scope(load(bytes)) == waves * threads);
        }
        const std::uint64_t descriptions =
            threads * (trace::record_unit_bytes + sizeof(trace::thread_body));
        CHECK(chunks[0] >= threads);
        CHECK(chunks[1] <= chunks[0] + descriptions / chunk_bytes + 3);
    }

    TEST_CASE("a thread with many scopes continues in chunks of its own") {
        profile session{{.all_threads = true, .policy = overflow::wait, .chunk_bytes = 4096}};
        in_turn(60, [](std::size_t number) { steps(number % 3 == 0 ? 2'000 : number); });
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.dropped_newest == 0);
        std::uint64_t all = 0;
        for (std::size_t number = 0; number < 60; ++number) all += number % 3 == 0 ? 2'000 : number;
        CHECK(count_steps(trace) == all);
        for (const std::string& digits : steps_by_thread(trace)) CHECK(is_whole_sequence(digits));
    }

    TEST_CASE("kept and lost records of short threads add up, with both policies of a full trace") {
        for (const overflow policy : {overflow::drop_newest, overflow::overwrite_oldest}) {
            CAPTURE(static_cast<int>(policy));
            profile session{{.all_threads = true,
                             .policy = policy,
                             .limit_bytes = 48 * 4096,
                             .chunk_bytes = 4096}};
            constexpr std::size_t threads = 900;
            in_turn(threads, [](std::size_t number) { steps(number % 40); });
            const analysis::trace trace = load(session.stop());
            std::uint64_t all = 0;
            for (std::size_t number = 0; number < threads; ++number) all += number % 40;
            const analysis::trace_health& health = trace.health;
            CHECK(health.dropped_newest + health.overwritten > 0);
            CHECK(count_steps(trace) + session.status().lost_records == all);
            for (const std::string& digits : steps_by_thread(trace)) CHECK(is_sequence(digits));
        }
    }

    TEST_CASE("the attributes of a short thread are known when the ring has gone round") {
        profile session{{.all_threads = true,
                         .policy = overflow::overwrite_oldest,
                         .limit_bytes = 4096 + 128 * 4096,
                         .chunk_bytes = 4096}};
        context captured;
        {
            const attribute tenant("tenant", "acme");
            captured = current_context();
        }
        in_turn(3'000, [&](std::size_t number) {
            if (number % 2 == 0) {
                one_scope();
                return;
            }
            const context_guard guard(captured);
            for (int each = 0; each < 10; ++each) {
                COROSCOPE("carries");
            }
        });
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten > 0);
        CHECK(count(trace, "carries") > 100);
        CHECK(count(trace, "short") > 10);
        std::size_t strangers = 0;
        for (const analysis::event& event : trace.events) {
            const std::uint32_t value = analysis::attribute_value(trace, event.attribute, "tenant");
            const bool is_acme = value != analysis::none && trace.strings[value] == "acme";
            strangers += is_acme == (label_of(trace, event) == "carries") ? 0U : 1U;
        }
        CHECK(strangers == 0);
    }

    TEST_CASE("a first record that fits into no rest is in a chunk of its own") {
        profile session{{.all_threads = true, .chunk_bytes = 8192}};
        const std::string text(3'000, 'x');
        in_turn(20, [&](std::size_t number) {
            one_scope();
            if (number % 2 == 0) const record_function labelled(text);
        });
        std::thread([&] { const record_function labelled(text); }).join();
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.dropped_newest == 0);
        CHECK(count(trace, text) == 11);
        CHECK(threads_with_one_scope(trace) == 20);
    }

    TEST_CASE("a session whose collection is switched off and on has the scopes of each thread "
              "that ran while it was on") {
        profile session{{.all_threads = true}};
        for (int round = 0; round < 20; ++round) {
            session.toggle_collection(round % 2 == 0);
            in_turn(3, [](std::size_t) { one_scope(); });
        }
        CHECK(threads_with_one_scope(load(session.stop())) == 30);
    }

    TEST_CASE(
        "scopes of handlers in threads that end damage no other record, and count at most once") {
        struct sigaction action{};
        action.sa_handler = on_signal;
        REQUIRE(::sigaction(SIGUSR1, &action, nullptr) == 0);
        handled = 0;
        profile session{{.all_threads = true, .policy = overflow::wait}};
        std::uint64_t done = 0;
        for (int round = 0; round < 400; ++round) {
            std::atomic<bool> begun{false};
            std::thread thread([&] {
                step(0);
                begun = true;
                for (std::uint64_t number = 1; number < 20; ++number) step(number);
            });
            while (!begun) std::this_thread::yield();
            for (int each = 0; each < 20; ++each) ::pthread_kill(thread.native_handle(), SIGUSR1);
            thread.join();
            done += 20;
        }
        const trace::buffer bytes = session.stop();
        ::signal(SIGUSR1, SIG_IGN);
        const analysis::trace trace = load(bytes);
        CHECK(count_steps(trace) == done);
        CHECK(count(trace, "in a handler") + session.status().lost_records <= handled);
        for (const std::string& digits : steps_by_thread(trace)) CHECK(is_whole_sequence(digits));
    }

    TEST_CASE("a process that is killed leaves the records of its short threads") {
        if (thread_sanitized) {
            COROSCOPE_SKIP("ThreadSanitizer lets no forked child start threads");
            return;
        }
        constexpr std::size_t threads = 100;
        const scratch_file file;
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            const profile session{{.output = file.path(), .all_threads = true}};
            in_turn(threads, [](std::size_t) { one_scope(); });
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
        const analysis::trace trace = load(std::string(file.path()));
        CHECK_FALSE(trace.health.finished);
        CHECK(threads_with_one_scope(trace) == threads);
    }

    TEST_CASE("a forked child leaves the chunks of its parent's ended threads alone") {
        const scratch_file file;
        profile session{{.output = file.path(), .all_threads = true}};
        steps(5);
        in_turn(10, [](std::size_t) { one_scope(); });
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            steps(3);                          // no session records here
            if (thread_sanitized) ::_exit(0);  // ThreadSanitizer lets no forked child start threads
            const profile own{{.limit_bytes = 1U << 20}};
            steps(3);
            ::_exit(own.status().state == session_state::recording ? 0 : 1);
        }
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        in_turn(10, [](std::size_t) { one_scope(); });
        session.stop();
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(threads_with_one_scope(trace) == 20);
        CHECK(count_steps(trace) == 5);
    }
}
