// SPDX-License-Identifier: Apache-2.0
#include "crash_report.hpp"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <ctime>

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "async_stack_builder.hpp"
#include "chunk.hpp"
#include "recorder.hpp"
#include "registry.hpp"
#include "uncancelled.hpp"
#include "unlocked_memory.hpp"

namespace coroscope::runtime {
namespace {

struct fatal_signal {
    int number;
    const char* name;
    struct sigaction before;      // what ours took the place of
    std::atomic<bool> handed_on;  // before has had its turn
};
constinit fatal_signal fatal_signals[] = {
    {SIGSEGV, "SIGSEGV", {}, false}, {SIGBUS, "SIGBUS", {}, false},   {SIGILL, "SIGILL", {}, false},
    {SIGFPE, "SIGFPE", {}, false},   {SIGABRT, "SIGABRT", {}, false},
};

struct watched_slot {
    std::atomic<trace::file_header*> header{nullptr};  // null: nobody; stored last
    std::atomic<std::uint64_t> file_bytes{0};
};
constinit watched_slot watched[session_slots];
constinit std::atomic<int> watchers{0};
constinit std::atomic<int> descriptor{-1};

// One report in the process. Who comes second waits for the first to end, else it would end the process
// in the middle of it.
enum class stage : int { none, being_written, written };
constinit std::atomic<stage> report_stage{stage::none};
constinit std::atomic<pid_t> reporter{0};
constinit sigjmp_buf way_out{};  // of a report that crashes itself
constinit char report[sizeof(trace::file_header::crash_report)] = {};

constexpr int longest_wait_ms = 2000;  // for another thread's report, or a descriptor that is full
constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

pid_t this_thread_id() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

fatal_signal* find_signal(int number) noexcept {
    for (fatal_signal& each : fatal_signals)
        if (each.number == number) return &each;
    return nullptr;
}

// Raised by what the thread did, and not by a call.
bool is_fault(const siginfo_t& info) noexcept { return info.si_code > 0; }

bool is_ignored(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

// --- the report --------------------------------------------------------------------------------------

// A thread that never met the runtime runs no task that it knows, and is not to be registered now.
void write_stack(text_writer& to) noexcept {
    static char stack[sizeof report];
    const detail::thread_state& thread = this_thread;
    const std::uint64_t task = thread.record == nullptr ? 0 : task_of(thread.mark);
    if (task == 0) {
        to.text("no task runs on this thread\n");
        return;
    }
    // The task's own state is not looked at: to find a place by it may take a lock.
    to.text(stack, format(async_stack_builder::build(task, nullptr), stack, sizeof stack));
}

void put_into_traces(int number) noexcept {
    for (const watched_slot& each : watched) {
        trace::file_header* header =
            each.header.load(std::memory_order_acquire);  // watch_crashes()
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

// A pipe that nobody empties must not keep the process from its end, nor one that nobody has any more end
// it in our way.
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

// --- before and after it -----------------------------------------------------------------------------

// A write into a trace file that somebody cut. Its mapping becomes memory of our own; the session's helper
// finds out by itself.
bool replace_cut_trace(const siginfo_t& info) noexcept {
    if (info.si_signo != SIGBUS || info.si_code != BUS_ADRERR) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
    for (const watched_slot& each : watched) {
        void* base = each.header.load(std::memory_order_acquire);  // pairs with watch_crashes()
        const std::uint64_t bytes = each.file_bytes.load(std::memory_order_relaxed);
        if (base == nullptr || address - reinterpret_cast<std::uintptr_t>(base) >= bytes) continue;
        return replace_by_empty_memory(base, bytes);
    }
    return false;
}

// Sent again with all that was known of it, to arrive when our handler returns. A fault comes again by itself.
void send_again(int number, siginfo_t& info) noexcept {
    const sigset_t only = set_of(number);
    ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
    const pid_t process = ::getpid();
    const pid_t thread = this_thread_id();
    if (::syscall(SYS_rt_tgsigqueueinfo, process, thread, number, &info) != 0 && !is_fault(info))
        ::syscall(SYS_tgkill, process, thread, number);
}

// The action before ours gets its turn, once: if it comes back to us, the default follows.
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

// Who ignores a signal goes on when it is sent; abort() ends all the same.
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

// A report that crashes comes back to us: nothing is blocked. On a stack of its own, if there is one.
void install() noexcept {
    struct sigaction ours{};
    ours.sa_sigaction = handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigemptyset(&ours.sa_mask);
    report_stage.store(stage::none);
    for (fatal_signal& each : fatal_signals) {
        struct sigaction now{};
        if (::sigaction(each.number, nullptr, &now) != 0 || is_ours(now)) continue;
        each.before = now;
        each.handed_on.store(false);
        ::sigaction(each.number, &ours, nullptr);
    }
}

void remove() noexcept {
    for (const fatal_signal& each : fatal_signals) {
        struct sigaction now{};
        if (::sigaction(each.number, nullptr, &now) == 0 && is_ours(now))
            ::sigaction(each.number, &each.before, nullptr);
    }
}

}  // namespace

void watch_crashes(std::size_t slot, trace::file_header& header, std::uint64_t file_bytes,
                   int where) noexcept {
    descriptor.store(where);
    watched[slot].file_bytes.store(file_bytes, std::memory_order_relaxed);
    watched[slot].header.store(&header, std::memory_order_release);  // pairs with the handlers
    if (watchers.fetch_add(1) == 0) install();
}

void unwatch_crashes(std::size_t slot) noexcept {
    if (watched[slot].header.exchange(nullptr) == nullptr) return;
    if (watchers.fetch_sub(1) == 1) remove();
}

void forget_crashes() noexcept {
    for (std::size_t slot = 0; slot < session_slots; ++slot) unwatch_crashes(slot);
}

void give_signal_stack(detail::thread_record& thread) noexcept {
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
    void* memory =
        map_unlocked(signal_stack_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK);
    if (memory == MAP_FAILED) return;
    stack_t ours{};
    ours.ss_sp = memory;
    ours.ss_size = signal_stack_bytes;
    if (::sigaltstack(&ours, nullptr) == 0)
        thread.signal_stack = memory;
    else
        ::munmap(memory, signal_stack_bytes);
}

void take_signal_stack(detail::thread_record& thread) noexcept {
    if (thread.signal_stack == nullptr) return;
    stack_t now{};
    if (::sigaltstack(nullptr, &now) == 0 && now.ss_sp == thread.signal_stack) {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
    }
    ::munmap(thread.signal_stack, signal_stack_bytes);
    thread.signal_stack = nullptr;
}

}  // namespace coroscope::runtime
