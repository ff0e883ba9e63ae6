// SPDX-License-Identifier: Apache-2.0

// The states of threads if the kernel refuses some of their facts: nothing else changes.

#include <coroscope/profile.hpp>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../../support/scratch_file.hpp"
#include "../../support/skip.hpp"
#include "../support/build.hpp"
#include "kernel_facts.hpp"
#include "restricted_children.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

constexpr bool child_may_start_threads = !thread_sanitized;
constexpr bool sanitizer_needs_descriptors = sanitized && !thread_sanitized;

enum outcome : int {
    right = 0,
    skipped = 77,
    wrong_source = 1,
    no_reason,
    no_sums,
    no_holder,
    no_session
};

/// Of this thread, which holds a mutex, and of one that waits for it.
kernel_facts record(std::uint32_t& holder, std::uint32_t& waiter) {
    std::mutex lock;
    holder = this_thread_id();
    const recorded_waits made = record_until_seen(
        [&lock](std::chrono::milliseconds time) { return record_wait(lock, time); });
    waiter = made.waiters.front();
    return made.facts;
}

int check_samples() {
    std::uint32_t holder = 0, waiter = 0;
    const kernel_facts facts = record(holder, waiter);
    if (facts.source() != trace::thread_state_source::samples) return wrong_source;
    if (facts.message().empty()) return no_reason;
    if (facts.times.count(holder) == 0 || facts.times.count(waiter) == 0 || !facts.switches.empty())
        return no_sums;
    if (facts.blocked.count(waiter) == 0) return no_holder;
    return facts.blocked.at(waiter).front().what.holder == holder ? right : no_holder;
}

int limited_descriptors(rlim_t most) {
    const rlimit limit{most, most};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return skipped;
    return right;
}

}  // namespace

TEST_SUITE("refused thread states") {
    TEST_CASE("under a seccomp filter threads are sampled, and the header has the reason") {
        CHECK(in_child([] {
                  if (!refuse_call(SYS_perf_event_open, EPERM)) return int{skipped};
                  return check_samples();
              }) == right);
    }

    TEST_CASE("under a filter that is not trusted nothing is asked of the kernel, and the reason "
              "is given") {
        const auto source_of = [](const char* asked, bool filtered) {
            return in_child([asked, filtered] {
                ::unsetenv("COROSCOPE_THREAD_STATES");
                if (asked != nullptr) ::setenv("COROSCOPE_THREAD_STATES", asked, 1);
                if (filtered && !refuse_call(SYS_acct, EPERM)) return int{skipped};
                ::execl(STATES_PROGRAM, STATES_PROGRAM, nullptr);
                return 98;
            });
        };
        CHECK(source_of(nullptr, true) == static_cast<int>(trace::thread_state_source::refused));
        CHECK(source_of("1", true) == static_cast<int>(trace::thread_state_source::samples));
        CHECK(source_of("switches", true) == source_of("switches", false));
    }

    TEST_CASE(
        "a filter that ends the process for an unusual call does not end a program that records") {
        constexpr long close_range = 436;
        for (const long call :
             {long{SYS_process_vm_readv}, long{SYS_perf_event_open}, close_range}) {
            const int end = in_child([call] {
                ::unsetenv("COROSCOPE_THREAD_STATES");
                if (!end_at_call(call)) return int{skipped};
                ::execl(STATES_PROGRAM, STATES_PROGRAM, nullptr);
                return 98;
            });
            CHECK(end == static_cast<int>(trace::thread_state_source::refused));
        }
    }

    TEST_CASE("a set-user-ID program that records has one of the sources, or the reason for none") {
        if (::geteuid() != 0) {
            COROSCOPE_SKIP("only root makes a set-user-ID program of another user");
            return;
        }
        const scratch_file program;
        REQUIRE(std::filesystem::copy_file(STATES_PROGRAM, program.path()));
        REQUIRE(::chmod(program.path(), 04755) == 0);
        REQUIRE(::chmod(program.folder().c_str(), 0755) == 0);
        const int source = in_child([&program] {
            constexpr uid_t nobody = 65534;
            if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) return int{skipped};
            ::execl(program.path(), program.path(), nullptr);
            return int{skipped};
        });
        if (source == skipped) {
            COROSCOPE_SKIP("another user cannot start a program here");
            return;
        }
        constexpr int without_reason = 100;
        const auto is = [source](trace::thread_state_source which, int reason) {
            return source == static_cast<int>(which) + reason;
        };
        CHECK((is(trace::thread_state_source::switches, without_reason) ||
               is(trace::thread_state_source::samples, 0) ||
               is(trace::thread_state_source::refused, 0)));
    }

    TEST_CASE("with two descriptors too few for switches, threads are sampled") {
        CHECK(in_child([] {
                  if (const int failed = limited_descriptors(5); failed != 0) return failed;
                  return check_samples();
              }) == right);
    }

    TEST_CASE("without a descriptor nothing is recorded of threads, and the session goes on") {
        if (sanitizer_needs_descriptors) {
            COROSCOPE_SKIP("UBSan opens descriptors to check an object's type");
            return;
        }
        CHECK(in_child([] {
                  if (const int failed = limited_descriptors(0); failed != 0) return failed;
                  std::uint32_t holder = 0, waiter = 0;
                  const kernel_facts facts = record(holder, waiter);
                  if (facts.source() != trace::thread_state_source::refused)
                      return int{wrong_source};
                  if (facts.message().empty()) return int{no_reason};
                  return facts.header.finished == 1 && facts.chunks == 0 ? int{right}
                                                                         : int{no_session};
              }) == right);
    }

    TEST_CASE("an unprivileged user without locked memory has one source or the other") {
        CHECK(in_child([] {
                  const rlimit none{0, 0};
                  if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) return int{skipped};
                  if (::geteuid() == 0 && ::setuid(65534) != 0) return int{skipped};
                  std::mutex lock;
                  std::uint32_t waiter = 0;
                  const kernel_facts facts = record_until(
                      [&](std::chrono::milliseconds time) {
                          const recorded_waits made = record_wait(lock, time);
                          waiter = made.waiters.front();
                          return made.facts;
                      },
                      [&](const kernel_facts& made) { return made.times.count(waiter) == 1; });
                  const bool has_source = facts.source() == trace::thread_state_source::switches ||
                                          facts.source() == trace::thread_state_source::samples;
                  if (!has_source) return int{wrong_source};
                  return facts.times.count(waiter) == 1 ? int{right} : int{no_sums};
              }) == right);
    }

    TEST_CASE("a forked child records its own threads, the parent goes on") {
        if (!child_may_start_threads) {
            COROSCOPE_SKIP("ThreadSanitizer ends a forked child that starts threads");
            return;
        }
        profile session({.all_threads = true});
        std::this_thread::sleep_for(20ms);
        CHECK(in_child([] {
                  std::uint32_t holder = 0, waiter = 0;
                  const kernel_facts facts = record(holder, waiter);
                  if (facts.source() != trace::thread_state_source::switches &&
                      facts.source() != trace::thread_state_source::samples)
                      return int{wrong_source};
                  const bool is_own =
                      facts.times.count(static_cast<std::uint32_t>(::getppid())) == 0;
                  return is_own && facts.times.count(holder) == 1 ? int{right} : int{no_sums};
              }) == right);
        std::this_thread::sleep_for(20ms);
        const kernel_facts facts = facts_of(session.stop());
        CHECK(facts.times.count(this_thread_id()) == 1);
    }
}
