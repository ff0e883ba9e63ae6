// SPDX-License-Identifier: Apache-2.0
#include "crash_report.hpp"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/forks.hpp"
#include "../base/uncancelled.hpp"
#include "../base/unlocked_memory.hpp"
#include "../scopes/open_scopes.hpp"
#include "../store/chunk.hpp"
#include "../tasks/async_stack.hpp"
#include "../writer/recorder.hpp"
#include "../writer/session_table.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

struct fatal_signal {
    int number;
    const char* name;
    struct sigaction before;      // the action before ours
    std::atomic<bool> handed_on;  // before has had its turn
    int users;                    // sessions that need the handler
};
constinit fatal_signal fatal_signals[] = {
    {SIGSEGV, "SIGSEGV", {}, false, 0}, {SIGBUS, "SIGBUS", {}, false, 0},
    {SIGILL, "SIGILL", {}, false, 0},   {SIGFPE, "SIGFPE", {}, false, 0},
    {SIGABRT, "SIGABRT", {}, false, 0},
};

struct watched_slot {
    std::atomic<trace::file_header*> reports_to{nullptr};  // null: no session that reports crashes
    watched_file file;
    bool has_file = false;
};
constinit watched_slot watched[session_slots];
constinit std::atomic<int> watchers{0};
constinit std::atomic<int> descriptor{-1};

// One report per process. A second thread waits until the first has written its report, else it
// would end the process in the middle of it.
enum class stage : int { none, being_written, written };
constinit std::atomic<stage> report_stage{stage::none};
constinit std::atomic<pid_t> reporter{0};
constinit sigjmp_buf way_out{};  // out of a report that itself crashes
constinit char report[sizeof(trace::file_header::crash_report)] = {};

constexpr int longest_wait_ms =
    2000;  // for the report of another thread, or for room in a full descriptor

pid_t this_thread_id() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

fatal_signal* find_signal(int number) noexcept {
    for (fatal_signal& each : fatal_signals)
        if (each.number == number) return &each;
    return nullptr;
}

// Raised by an instruction of the thread, and not by a call.
bool is_fault(const siginfo_t& info) noexcept { return info.si_code > 0; }

bool is_ignored(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

// --- the report ---------------------------------------------------------------------------

// A thread that has never called the runtime has no known task. It must not be registered now.
void write_stack(text_writer& to) noexcept {
    static char stack[sizeof report];
    const detail::thread_state& thread = this_thread;
    const std::uint64_t task = thread.record == nullptr ? 0 : task_of(thread.mark);
    if (task == 0) {
        to.text("no task runs on this thread\n");
        return;
    }
    // Does not use the task's own state, because finding a place by it may take a lock.
    to.text(stack, format(async_stack_builder::build(task, nullptr), stack, sizeof stack));
}

void put_into_traces(int number) noexcept {
    for (const watched_slot& each : watched) {
        // Acquire: pairs with watch_crashes().
        trace::file_header* header = each.reports_to.load(std::memory_order_acquire);
        if (header == nullptr) continue;
        std::memcpy(header->crash_report, report, sizeof report);
        publish_word(&header->crash_signal, static_cast<std::uint64_t>(number));
    }
}

sigset_t set_of(int number) noexcept {
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, number);
    return only;
}

// A pipe that is not read must not keep the process from its end. A pipe without readers must not
// end the process by SIGPIPE.
void put_on_descriptor(const char* text, std::size_t size) noexcept {
    const sigset_t broken_pipe = set_of(SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    pollfd to{descriptor.load(std::memory_order_relaxed), POLLOUT, 0};
    while (size != 0 && ::poll(&to, 1, longest_wait_ms) == 1) {
        const ssize_t written = ::write(to.fd, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EPIPE) {
            constexpr timespec at_once{0, 0};
            ::sigtimedwait(&broken_pipe, nullptr, &at_once);
        }
        if (written < 0) return;
        text += written;
        size -= static_cast<std::size_t>(written);
    }
}

void write_report(const fatal_signal& fatal) noexcept {
    text_writer to(report, sizeof report);
    to.text("coroscope: signal ").natural(static_cast<std::uint64_t>(fatal.number)).text(" (");
    to.text(fatal.name).text(") on thread ").natural(static_cast<std::uint64_t>(reporter.load()));
    to.text(", which ran:\n");
    write_stack(to);
    write_open_scopes(to);
    put_into_traces(fatal.number);
    put_on_descriptor(report, to.size());
}

void await_report() noexcept {
    const timespec pause{0, 1'000'000};
    for (int ms = 0; ms < longest_wait_ms && report_stage.load() == stage::being_written; ++ms)
        ::nanosleep(&pause, nullptr);
}

void report_once(const fatal_signal& fatal) noexcept {
    const pid_t self = this_thread_id();
    stage expected = stage::none;
    if (!report_stage.compare_exchange_strong(expected, stage::being_written)) {
        if (expected == stage::being_written && reporter.load() == self) siglongjmp(way_out, 1);
        return await_report();
    }
    reporter.store(self);
    if (sigsetjmp(way_out, 0) == 0) {
        write_report(fatal);
    } else {
        constexpr char broken[] = "coroscope: the report of this crash crashed itself\n";
        put_on_descriptor(broken, sizeof broken - 1);
    }
    report_stage.store(stage::written);
}

// --- before and after it -------------------------------------------------------------------

// Handles an access to a trace file that was cut. Empty memory replaces the mapping. The session's
// helper or stop then finds the flag.
//
// A thread that was preempted between the fault and this handler comes late: the helper or the stop
// has replaced the mapping, and the session may have ended. Its access succeeds now.
bool replace_cut_trace(const siginfo_t& info) noexcept {
    if (info.si_signo != SIGBUS || info.si_code != BUS_ADRERR) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
    for (watched_slot& each : watched) {
        for (const watched_place* place : {&each.file.mapping, &each.file.view}) {
            if (!place->holds(address)) continue;
            if (!replace_by_empty_memory(place->at(), place->bytes())) return false;
            each.file.replaced.store(true, std::memory_order_relaxed);
            return true;
        }
    }
    return can_write(info.si_addr);
}

// Sends the signal again with its full information. It arrives when our handler returns. A fault
// comes again by itself.
void send_again(int number, siginfo_t& info) noexcept {
    const sigset_t only = set_of(number);
    ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
    const pid_t process = ::getpid();
    const pid_t thread = this_thread_id();
    if (::syscall(SYS_rt_tgsigqueueinfo, process, thread, number, &info) != 0 && !is_fault(info))
        ::syscall(SYS_tgkill, process, thread, number);
}

// Calls the earlier action, once. If that action raises the signal again, the default action
// follows.
void hand_on(fatal_signal& fatal, siginfo_t& info) noexcept {
    const bool again = fatal.handed_on.exchange(true);
    struct sigaction next = fatal.before;
    if (again || (is_ignored(next) && is_fault(info))) {  // a fault can't be ignored
        next = {};
        next.sa_handler = SIG_DFL;
    }
    ::sigaction(fatal.number, &next, nullptr);
    if (!is_ignored(next)) send_again(fatal.number, info);
}

// A program that ignores a signal continues when the signal is sent. abort() ends the program
// nevertheless.
bool goes_on(const fatal_signal& fatal, const siginfo_t& info) noexcept {
    return is_ignored(fatal.before) && !is_fault(info) && fatal.number != SIGABRT;
}

void handle(int number, siginfo_t* info, void*) {
    const int error = errno;
    const uncancelled meanwhile;
    fatal_signal* fatal = find_signal(number);
    if (fatal != nullptr && !replace_cut_trace(*info) && !goes_on(*fatal, *info)) {
        if (watchers.load() != 0) report_once(*fatal);
        hand_on(*fatal, *info);
    }
    errno = error;
}

bool is_ours(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handle;
}

// No signal is blocked, so that a crash of the report itself comes back to this handler. It runs on
// a stack of its own, if there is one.
void install(fatal_signal& fatal) noexcept {
    if (fatal.users++ != 0) return;
    struct sigaction ours{};
    ours.sa_sigaction = handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigemptyset(&ours.sa_mask);
    struct sigaction now{};
    if (::sigaction(fatal.number, nullptr, &now) != 0 || is_ours(now)) return;
    fatal.before = now;
    fatal.handed_on.store(false);
    ::sigaction(fatal.number, &ours, nullptr);
}

void remove(fatal_signal& fatal) noexcept {
    if (--fatal.users != 0) return;
    struct sigaction now{};
    if (::sigaction(fatal.number, nullptr, &now) == 0 && is_ours(now))
        ::sigaction(fatal.number, &fatal.before, nullptr);
}

}  // namespace

watched_file& watch_file(std::size_t slot) noexcept {
    if (!std::exchange(watched[slot].has_file, true)) install(*find_signal(SIGBUS));
    return watched[slot].file;
}

void watch_crashes(std::size_t slot, trace::file_header& header, int where) noexcept {
    descriptor.store(where);
    watched[slot].reports_to.store(&header, std::memory_order_release);  // pairs with the handlers
    if (watchers.fetch_add(1) != 0) return;
    report_stage.store(stage::none);
    for (fatal_signal& each : fatal_signals) install(each);
}

void unwatch(std::size_t slot, bool keep_handler) noexcept {
    watched_slot& each = watched[slot];
    if (each.reports_to.exchange(nullptr) != nullptr && watchers.fetch_sub(1) == 1)
        for (fatal_signal& fatal : fatal_signals) remove(fatal);
    each.file.forget();
    if (std::exchange(each.has_file, false) && !keep_handler) remove(*find_signal(SIGBUS));
}

namespace {

// A forked child does not report its parent's sessions.
constinit fork_guest around_forks{.rank = fork_rank::leftovers, .in_child = []() noexcept {
                                      for (std::size_t slot = 0; slot < session_slots; ++slot)
                                          unwatch(slot);
                                  }};
[[gnu::constructor(101)]] void join() noexcept { join_forks(around_forks); }

}  // namespace

}  // namespace coroscope::runtime::inline sessions
