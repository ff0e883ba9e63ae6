// SPDX-License-Identifier: Apache-2.0

// One session: the threads that it records, the reasons for its refusal, and its end.

#include <link.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <coroutine>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <sys/stat.h>

#include <coroscope/trace/reader.hpp>

#include "../../support/nearly.hpp"
#include "../../support/scratch_file.hpp"
#include "../support/build.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr const char* already_enabled = "Profiler is already enabled on this thread.";

template <class Body>
void on_another_thread(Body body) {
    std::thread(std::move(body)).join();
}

std::int64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Moves the awaiting coroutine to a new thread.
struct new_thread {
    std::thread* place;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
        *place = std::thread([handle] { handle.resume(); });
    }
    void await_resume() const noexcept {}
};

task<void> hop_and_stop(profile& session, trace::buffer& bytes, std::thread& other) {
    COROSCOPE("across");
    step(0);
    co_await new_thread{&other};
    step(1);
    bytes = session.stop();
    step(2);
}

static_assert(sizeof(detail::thread_state) <= 128);

}  // namespace

TEST_SUITE("session") {
    TEST_CASE("a file that is read while its session records is marked as being recorded") {
        const scratch_file file;
        profile session{{.output = file.path(), .chunk_bytes = 4096}};
        steps(1000);
        const auto during = analysis::load(std::string(file.path()));
        REQUIRE(during);
        CHECK_FALSE(during->health.finished);
        CHECK(during->health.being_recorded);
        CHECK(trace::is_being_recorded(file.path()));
        session.stop();
        const auto after = analysis::load(std::string(file.path()));
        REQUIRE(after);
        CHECK(after->health.finished);
        CHECK_FALSE(after->health.being_recorded);
        CHECK_FALSE(trace::is_being_recorded(file.path()));
    }

    TEST_CASE(
        "the status stays correct after another program overwrote the header of the trace file") {
        const scratch_file file;
        profile session{{.output = file.path(), .chunk_bytes = 4096}};
        steps(10);
        {
            std::fstream trace(file.path(), std::ios::in | std::ios::out | std::ios::binary);
            trace << std::string(trace::file_header_bytes, '\xff');
            REQUIRE(trace.flush());
        }
        const session_status status = session.status();
        CHECK(status.state == session_state::recording);
        CHECK(status.lost_records == 0);
        CHECK(status.error_number == 0);
        CHECK(std::strcmp(status.message, "") == 0);
        session.stop();
        CHECK(session.status().lost_records == 0);
    }

    TEST_CASE("a file that grows while it is read is not reported as cut off") {
        const scratch_file file;
        profile session{{.output = file.path(),
                         .all_threads = true,
                         .limit_bytes = 16 << 20,
                         .chunk_bytes = 4096}};
        std::atomic<bool> stop{false};
        std::thread recording([&] {  // slowly: the time of each reading grows with the file
            for (; !stop; std::this_thread::sleep_for(std::chrono::microseconds(100))) steps(100);
        });
        for (int round = 0; round < 50; ++round) {
            const auto read = trace::reader::open(file.path());
            REQUIRE(read);
            for (const std::string& warning : read->warnings())
                CHECK(warning.find("cut off") == std::string::npos);
        }
        stop = true;
        recording.join();
    }

    TEST_CASE("a session records its thread from construction to stop") {
        steps(3);
        profile session;
        CHECK(session.status().state == session_state::recording);
        CHECK(std::strcmp(session.status().message, "") == 0);
        steps(10);
        const trace::buffer bytes = session.stop();
        steps(3);
        const analysis::trace trace = load(bytes);
        REQUIRE(trace.threads.size() == 1);
        CHECK(steps_by_thread(trace)[0] == "0123401234");
        CHECK(trace.health.finished);
        CHECK_FALSE(trace.health.lost_records());
        CHECK_FALSE(trace.all_threads);
        CHECK(session.status().state == session_state::stopped);
    }

    TEST_CASE("a second session on a thread is refused and gives the reason; the first goes on") {
        profile first;
        {
            profile second;
            CHECK(second.status().state == session_state::refused);
            CHECK(std::strcmp(second.status().message, already_enabled) == 0);
            CHECK(second.status().error_number != 0);
            profile third{{.all_threads = true}};
            CHECK(std::strcmp(third.status().message, already_enabled) == 0);
            CHECK(second.stop().empty());
            steps(5);
        }
        steps(5);
        CHECK(count_steps(load(first.stop())) == 10);
    }

    TEST_CASE("a disabled session does nothing and disturbs no other session") {
        profile disabled{{.enabled = false}};
        CHECK(disabled.status().state == session_state::disabled);
        profile session;
        CHECK(session.status().state == session_state::recording);
        steps(1);
        CHECK(disabled.stop().empty());
        CHECK(count_steps(load(session.stop())) == 1);
    }

    TEST_CASE("a session of one thread does not record other threads, except for work that it "
              "propagates to them") {
        profile session;
        on_another_thread([] { steps(7); });
        on_another_thread(propagate([] { steps(5); }));
        const analysis::trace trace = load(session.stop());
        CHECK(count_steps(trace) == 5);
    }

    TEST_CASE("two threads record into sessions of their own at once") {
        profile mine;
        steps(1);
        on_another_thread([] {
            profile theirs;
            CHECK(theirs.status().state == session_state::recording);
            steps(2);
            CHECK(count_steps(load(theirs.stop())) == 2);
        });
        steps(2);
        CHECK(count_steps(load(mine.stop())) == 3);
    }

    TEST_CASE("beside a process-wide session a thread's own session records its thread, and the "
              "other one the rest") {
        profile mine;
        on_another_thread([] {
            profile everything{{.all_threads = true}};
            REQUIRE(everything.status().state == session_state::recording);
            steps(4);
            on_another_thread([] { steps(8); });
            const analysis::trace trace = load(everything.stop());
            CHECK(count_steps(trace) == 12);
            CHECK(trace.all_threads);
        });
        steps(3);
        CHECK(count_steps(load(mine.stop())) == 3);
    }

    TEST_CASE("the process-wide session takes over when a thread's own session ends") {
        profile mine;
        std::optional<profile> everything;
        on_another_thread([&] { everything.emplace(profile_options{.all_threads = true}); });
        REQUIRE(everything->status().state == session_state::recording);
        steps(3);
        CHECK(count_steps(load(mine.stop())) == 3);
        steps(4);
        CHECK(count_steps(load(everything->stop())) == 4);
    }

    TEST_CASE("an unknown policy is refused, with a message") {
        const profile session{{.policy = static_cast<overflow>(77)}};
        CHECK(session.status().state == session_state::refused);
        CHECK(session.status().error_number == EINVAL);
        CHECK(std::string(session.status().message) ==
              "The policy is none of drop_newest, overwrite_oldest and wait: give one of these.");
    }

    TEST_CASE("an empty path is refused with a message of its own") {
        const profile session{{.output = ""}};
        CHECK(session.status().state == session_state::refused);
        CHECK(std::string(session.status().message) ==
              "The path of the trace file is empty: give one, or null for a trace in memory.");
    }

    TEST_CASE("a value that a session can do without is replaced, and the session says so") {
        const auto message_of = [](const profile_options& options) {
            const profile session(options);
            CHECK(session.status().state == session_state::recording);
            return std::string(session.status().message);
        };
        CHECK(message_of({}).empty());
        CHECK(message_of({.chunk_bytes = 65536}).empty());
        for (const std::uint32_t bytes : {0U, 5000U, 2U << 20})
            CHECK(message_of({.chunk_bytes = bytes})
                      .starts_with("chunk_bytes is not a multiple of "));
        CHECK(message_of({.node_id = -7}).starts_with("node_id is negative: "));
        CHECK(message_of({.crash_report = -2}).starts_with("crash_report is not a descriptor: "));
        CHECK(message_of({.crash_report = 987})
                  .starts_with("crash_report is not an open descriptor: "));
    }

    TEST_CASE("a default limit is at most the usual one, and each limit is in the trace") {
        profile session;
        const analysis::trace trace = load(session.stop());
        CHECK(trace.limit_bytes > 0);
        CHECK(trace.limit_bytes <= default_limit_bytes);
        CHECK((trace.container_bytes == 0 || trace.limit_bytes == trace.container_bytes / 8));
        profile given{{.limit_bytes = std::size_t{3} << 30}};
        const analysis::trace other = load(given.stop());
        CHECK(other.limit_bytes == std::uint64_t{3} << 30);
        CHECK(other.container_bytes == 0);
    }

    TEST_CASE("a process-wide session is refused while another one records") {
        profile everything{{.all_threads = true}};
        on_another_thread([] {
            profile local;
            CHECK(std::strcmp(local.status().message, already_enabled) == 0);
            profile wide{{.all_threads = true}};
            CHECK(std::strcmp(wide.status().message, already_enabled) == 0);
        });
        CHECK_FALSE(everything.stop().empty());
    }

    TEST_CASE("stopping twice changes nothing") {
        profile session;
        CHECK_FALSE(session.stop().empty());
        CHECK(session.stop().empty());
        CHECK(session.status().state == session_state::stopped);
    }

    TEST_CASE("a session that is destroyed without a stop leaves a finished file") {
        const scratch_file file;
        {
            profile session{{.output = file.path()}};
            steps(9);
        }
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 9);
    }

    TEST_CASE("a task that hopped to another thread stops the session, and runs on") {
        profile session;
        std::thread other;
        trace::buffer bytes;
        sync_wait(hop_and_stop(session, bytes, other));
        other.join();
        const analysis::trace trace = load(bytes);
        CHECK(count_steps(trace) == 2);
        CHECK(count(trace, "across") == 0);  // the scope was open when the session stopped
        REQUIRE(trace.tasks.size() >= 1);
        profile next;
        CHECK(next.status().state == session_state::recording);
    }

    TEST_CASE("a session may be stopped on another thread, and its own thread starts the next") {
        auto session = std::make_unique<profile>();
        steps(2);
        on_another_thread([&] { CHECK(count_steps(load(session->stop())) == 2); });
        steps(2);
        profile next;
        CHECK(next.status().state == session_state::recording);
        steps(1);
        CHECK(count_steps(load(next.stop())) == 1);
    }

    TEST_CASE("a context from a session that is over records nothing") {
        profile first;
        const context old = current_context();
        CHECK(old.session != 0);
        first.stop();
        {
            const context_guard guard(old);
            steps(3);
        }
        profile second;
        CHECK(current_context().session != old.session);
        {
            const context_guard guard(old);
            steps(5);
        }
        steps(1);
        CHECK(count_steps(load(second.stop())) == 1);
    }

    TEST_CASE(
        "work under a context whose session is over is recorded by the process-wide session") {
        profile first;
        const context old = current_context();
        first.stop();
        profile everything{{.all_threads = true}};
        on_another_thread([old] {
            const context_guard guard(old);
            steps(5);
        });
        CHECK(count_steps(load(everything.stop())) == 5);
    }

    TEST_CASE("a process-wide session records the first scope of threads that never used the "
              "runtime before, and of threads that did") {
        std::atomic<int> ready{0};
        std::atomic<bool> started{false};
        const auto wait_for_start = [&] {
            ++ready;
            while (!started) std::this_thread::yield();
            steps(5);
        };
        std::thread stranger(wait_for_start);
        std::thread known([&] {
            steps(2);
            wait_for_start();
        });
        std::thread former([&] {
            profile own;
            steps(2);
            own.stop();
            wait_for_start();
        });
        while (ready != 3) std::this_thread::yield();
        profile everything{{.all_threads = true}};
        started = true;
        stranger.join();
        known.join();
        former.join();
        const analysis::trace trace = load(everything.stop());
        std::size_t whole = 0;
        for (const std::string& digits : steps_by_thread(trace))
            whole += digits == "01234" ? 1U : 0U;
        CHECK(whole == 3);
    }

    TEST_CASE("a scope that began under an earlier session does no harm in the next one") {
        profile first;
        auto outer = std::make_optional<record_function>("straddles");
        {
            COROSCOPE("straddles, too");
            first.stop();
            profile second;
            steps(1);
            outer.reset();
            const analysis::trace trace = load(second.stop());
            const analysis::event* event = find(trace, "step 0");
            REQUIRE(event != nullptr);
            CHECK(event->start_ns >= 0);
        }
        profile third;
        steps(1);
        CHECK(count_steps(load(third.stop())) == 1);
    }

    TEST_CASE("a path that cannot be written refuses the session with its errno") {
        const scratch_file file;
        const auto refusal = [](const std::string& path) {
            profile session{{.output = path.c_str()}};
            steps(2);
            const session_status status = session.status();
            CHECK(status.state == session_state::refused);
            CHECK(std::strlen(status.message) > 0);
            CHECK(session.stop().empty());
            CHECK(session.status().state == session_state::refused);
            return status.error_number;
        };
        CHECK(refusal(file.folder() + "/none/trace.cst") == ENOENT);
        CHECK(refusal(file.folder()) == EISDIR);
        CHECK(refusal("/proc/self/status/trace.cst") == ENOTDIR);
        profile session{{.output = file.path()}};
        CHECK(session.status().state == session_state::recording);
    }

    TEST_CASE("a limit without room for a trace refuses the session") {
        profile session{{.limit_bytes = 8192, .chunk_bytes = 4096}};
        CHECK(session.status().state == session_state::refused);
        CHECK(session.status().error_number == EINVAL);
        profile smallest{{.limit_bytes = std::size_t{3} * 4096, .chunk_bytes = 4096}};
        CHECK(smallest.status().state == session_state::recording);
    }

    TEST_CASE("the recorder's own cost is measured and is in the trace") {
        profile session;
        const analysis::trace trace = load(session.stop());
        CHECK(trace.scope_cost_ns >
              0);  // test_hostile_clocks.cpp: checks the figures by a counting clock
        CHECK(trace.await_cost_ns > 0);
        for (const analysis::site_info& site : trace.sites) CHECK_FALSE(site.label.empty());
    }

    TEST_CASE("the library takes less than two megabytes of a program's addresses") {
        std::size_t bytes = 0;
        ::dl_iterate_phdr(
            [](dl_phdr_info* of, std::size_t, void* found) {
                if (std::strstr(of->dlpi_name, "libcoroscope.so") == nullptr) return 0;
                for (int at = 0; at < of->dlpi_phnum; ++at)
                    if (of->dlpi_phdr[at].p_type == PT_LOAD)
                        *static_cast<std::size_t*>(found) =
                            of->dlpi_phdr[at].p_vaddr + of->dlpi_phdr[at].p_memsz;
                return 0;
            },
            &bytes);
        if (!sanitized) CHECK(bytes < (std::size_t{2} << 20));  // static: 0
    }

    TEST_CASE("a scope's duration is the one of CLOCK_MONOTONIC, within 1 % over 50 ms") {
        profile session;
        std::int64_t inside = 0;
        const std::int64_t begin = monotonic_ns();
        {
            COROSCOPE("50 ms");
            inside = monotonic_ns();
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            inside = monotonic_ns() - inside;
        }
        const std::int64_t around = monotonic_ns() - begin;
        const analysis::trace trace = load(session.stop());
        const analysis::event* event = find(trace, "50 ms");
        REQUIRE(event != nullptr);
        CHECK(event->end_ns - event->start_ns >= nearly(inside));
        CHECK(nearly(event->end_ns - event->start_ns) <= around);
    }

    TEST_CASE("a label longer than a chunk is lost and counted, and later records are kept") {
        profile session{{.limit_bytes = std::size_t{64} * 4096, .chunk_bytes = 4096}};
        steps(3);
        {
            const record_function range(std::string(5000, 'x'));
        }
        steps(3);
        const analysis::trace trace = load(session.stop());
        CHECK(count_steps(trace) == 6);
        CHECK(trace.health.dropped_newest >= 1);
    }
}
