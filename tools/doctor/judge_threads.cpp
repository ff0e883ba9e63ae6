// SPDX-License-Identifier: Apache-2.0
#include "judge_threads.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fmt/format.h>

#include "capabilities.hpp"

namespace coroscope::tools {
namespace {

constexpr std::int64_t most_paranoid = 2;  // at which a process may watch itself

constexpr const char* allow_perf =
    "sysctl kernel.perf_event_paranoid=2, or give the program CAP_PERFMON";
constexpr const char* allow_in_filter =
    "allow perf_event_open() in the seccomp profile (Docker: --cap-add PERFMON)";

fact refused(std::string why, std::string change) {
    return {.name = "context switches",
            .state = fact_state::no,
            .why = std::move(why),
            .change = std::move(change)};
}

bool is_filtered(const privilege_readings& privileges) {
    return privileges.seccomp.value_or(0) != 0;
}

std::string level_text(const privilege_readings& privileges) {
    return privileges.perf_event_paranoid
               ? fmt::format("kernel.perf_event_paranoid is {}", *privileges.perf_event_paranoid)
               : std::string("kernel.perf_event_paranoid cannot be read");
}

/// EACCES is the kernel's answer to a process without privileges; a security module has it, too.
fact not_permitted(int error, const privilege_readings& privileges) {
    const bool by_level = privileges.perf_event_paranoid.value_or(0) > most_paranoid &&
                          !has_any(privileges, {capability::perfmon, capability::sys_admin});
    const std::string answer = fmt::format("perf_event_open(): {}; ", error_text(error));
    if (error == EACCES && by_level)
        return refused(answer + level_text(privileges) + ", and there is no CAP_PERFMON",
                       allow_perf);
    if (is_filtered(privileges)) {
        return refused(answer + "the process has a seccomp filter" +
                           (by_level ? ", and " + level_text(privileges) : std::string()),
                       by_level ? fmt::format("{}; {}", allow_in_filter, allow_perf)
                                : std::string(allow_in_filter));
    }
    if (by_level) return refused(answer + level_text(privileges), allow_perf);
    return refused(answer + level_text(privileges) + ", and there is no seccomp filter",
                   "see the rules of the machine's security module (SELinux, AppArmor, Landlock)");
}

fact not_opened(int error, const privilege_readings& privileges) {
    const std::string answer = fmt::format("perf_event_open(): {}", error_text(error));
    switch (error) {
        case EACCES:
        case EPERM: return not_permitted(error, privileges);
        case ENOSYS:
            if (is_filtered(privileges))
                return refused(answer + "; the process has a seccomp filter", allow_in_filter);
            return refused(answer + "; the kernel lacks it, or a sandbox hides it",
                           "a kernel with CONFIG_PERF_EVENTS");
        case EINVAL:
        case EOPNOTSUPP:
            return refused(answer + "; the kernel knows no such event", "Linux 4.3 or later");
        case EMFILE:
        case ENFILE: return refused(answer, "raise the limit of open files: ulimit -n");
        default: return refused(answer, "");
    }
}

fact not_mapped(int error) {
    return refused(
        fmt::format("the event opens, but its ring cannot be mapped: {}", error_text(error)),
        "raise kernel.perf_event_mlock_kb, or the limit of locked memory: ulimit -l");
}

/// An attempt that did not end proves nothing about the fact, unless a filter ended it.
fact unfinished(const char* name, const char* call, const child_end& end) {
    if (end.signal == SIGSYS)
        return {.name = name,
                .state = fact_state::no,
                .why = fmt::format("a seccomp filter ends each process that calls {}", call),
                .change = fmt::format("allow {} in the seccomp profile", call)};
    return {.name = name, .state = fact_state::unknown, .why = why_not_tried(end)};
}

fact of_no_thread(const char* name, const thread_trial& found) {
    return {.name = name,
            .state = fact_state::unknown,
            .why = fmt::format("no thread could be started to try it: {}",
                               error_text(found.thread_error)),
            .change = "raise the limit of processes: ulimit -u"};
}

fact unreadable(const char* name, int error, const privilege_readings& privileges) {
    const bool filtered = is_filtered(privileges);
    return {.name = name,
            .state = fact_state::no,
            .why = fmt::format("process_vm_readv(): {}{}", error_text(error),
                               filtered ? "; the process has a seccomp filter" : ""),
            .change = filtered ? "allow process_vm_readv() in the seccomp profile (Docker: "
                                 "--cap-add SYS_PTRACE), or use coroscope run --record locks"
                               : "coroscope run --record locks"};
}

}  // namespace

std::string error_text(int error) { return std::generic_category().message(error); }

std::string why_not_tried(const child_end& end) {
    if (end.error != 0)
        return "it could not be tried in a process of its own: " + error_text(end.error);
    if (end.timed_out) return "the attempt took too long, and was given up";
    if (end.signal != 0)
        return fmt::format("the process that tried it was ended by signal {}", end.signal);
    return {};
}

fact judge_switches(const tried<switch_trial>& trial, const privilege_readings& privileges) {
    if (!why_not_tried(trial.end).empty())
        return unfinished("context switches", "perf_event_open()", trial.end);
    if (trial.found.open_error != 0) return not_opened(trial.found.open_error, privileges);
    if (trial.found.map_error != 0) return not_mapped(trial.found.map_error);
    if (!trial.found.recorded)
        return {.name = "context switches",
                .state = fact_state::unknown,
                .why = "perf_event_open() works, but no record of a switch arrived"};
    if (is_filtered(privileges))
        return {.name = "context switches",
                .state = fact_state::partly,
                .why = "perf_event_open() works, but the process has a seccomp filter, under which "
                       "the recorder watches no thread",
                .change = "set COROSCOPE_THREAD_STATES=switches for the program"};
    return {.name = "context switches",
            .state = fact_state::yes,
            .why = "perf_event_open() recorded a switch; " + level_text(privileges)};
}

fact under_filter(fact judged, const privilege_readings& privileges) {
    if (judged.state != fact_state::yes || !is_filtered(privileges)) return judged;
    judged.state = fact_state::partly;
    judged.why += "; the process has a seccomp filter, under which the recorder watches no thread";
    judged.change = "set COROSCOPE_THREAD_STATES=1 for the program";
    return judged;
}

fact judge_sums(const tried<thread_trial>& trial) {
    constexpr const char* name = "times per thread";
    if (!why_not_tried(trial.end).empty())
        return fact{.name = name, .why = why_not_tried(trial.end)};
    const thread_trial& found = trial.found;
    if (found.thread_error != 0) return of_no_thread(name, found);
    if (found.sums_error != 0)
        return {.name = name,
                .state = fact_state::no,
                .why = "/proc/self/task/TID/schedstat: " + error_text(found.sums_error),
                .change = "mount /proc; a kernel with CONFIG_SCHED_INFO"};
    if (!found.sums_counted)
        return {.name = name,
                .state = fact_state::no,
                .why = "/proc/self/task/TID/schedstat has no times",
                .change = "a kernel with CONFIG_SCHEDSTATS, or start it with delayacct"};
    return {.name = name,
            .state = fact_state::yes,
            .why = "/proc/self/task/TID/schedstat has the times on and waiting for a processor"};
}

fact judge_calls(const tried<thread_trial>& trial) {
    constexpr const char* name = "blocking system calls";
    if (!why_not_tried(trial.end).empty())
        return fact{.name = name, .why = why_not_tried(trial.end)};
    const thread_trial& found = trial.found;
    if (found.thread_error != 0) return of_no_thread(name, found);
    if (found.call_error != 0)
        return {.name = name,
                .state = fact_state::no,
                .why = "/proc/self/task/TID/syscall: " + error_text(found.call_error),
                .change = found.call_error == ENOENT
                              ? "mount /proc; a kernel with CONFIG_HAVE_ARCH_TRACEHOOK"
                              : "see the rules of the machine's security module"};
    if (!found.call_named)
        return {.name = name,
                .state = fact_state::unknown,
                .why = "/proc/self/task/TID/syscall did not name the lock of a blocked thread"};
    return {.name = name,
            .state = fact_state::yes,
            .why = "/proc/self/task/TID/syscall named the lock of a blocked thread"};
}

fact judge_holders(const machine_readings& read) {
    constexpr const char* name = "lock holders";
    if (!why_not_tried(read.locks.end).empty())
        return unfinished(name, "process_vm_readv()", read.locks.end);
    const lock_trial& found = read.locks.found;
    const std::string library = read.c_library.empty() ? "this C library" : read.c_library;
    if (found.read_error != 0) return unreadable(name, found.read_error, read.privileges);
    if (!found.mutex_holder)
        return {.name = name,
                .state = fact_state::no,
                .why = "a mutex of " + library + " does not have its holder at the known place",
                .change = "use glibc"};
    if (!found.rwlock_writer)
        return {.name = name,
                .state = fact_state::partly,
                .why = "mutexes only: a rwlock of " + library +
                       " does not have its writer at the known place"};
    if (const fact calls = judge_calls(read.threads); calls.state != fact_state::yes)
        return {.name = name,
                .state = calls.state,
                .why = "the address of a lock comes from the blocking system call, see above",
                .change = "coroscope run --record locks"};
    return {.name = name,
            .state = fact_state::yes,
            .why = "found for a mutex and for a writer of a rwlock of " + library +
                   " in waits of about 10 ms; of all waits by coroscope run --record locks"};
}

}  // namespace coroscope::tools
