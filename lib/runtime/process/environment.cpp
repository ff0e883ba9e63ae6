// SPDX-License-Identifier: Apache-2.0

// The session that the environment starts, in the process and in its forked children.
//
// The variables: trace/environment_variables.hpp.
//
// A value that is not understood causes one line on stderr, which names the value that is used
// instead. If nothing is recorded, one line gives the reason. In a program that gained privileges,
// all variables are ignored. Child processes, with or without exec(), write FILE.PID instead of
// their parent's file: environment_file.hpp.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <coroscope/anomaly.hpp>
#include <coroscope/async_stack.hpp>
#include <coroscope/profile.hpp>

#include "../../trace/program_features.hpp"
#include "../../trace/sampling_values.hpp"
#include "../base/environment_words.hpp"
#include "../base/fault_record.hpp"
#include "../base/forks.hpp"
#include "../base/sanitizers.hpp"
#include "../calls/call_paths.hpp"
#include "../kernel/watcher.hpp"
#include "../scopes/blocking_calls.hpp"
#include "../scopes/lock_waits.hpp"
#include "../sessions/session.hpp"
#include "../sessions/session_identity.hpp"
#include "../sessions/undestroyed.hpp"
#include "../tasks/anomaly.hpp"
#include "../writer/registry.hpp"
#include "environment_file.hpp"

namespace coroscope::runtime::inline process {
namespace {

using trace::variable;

constinit std::uint32_t environment_session = 0;
constinit bool records_children =
    false;  // true from the session's start to its end, also in forked children

// The options that the environment asks for; a forked child asks for the same.
profile_options& asked() noexcept {
    struct by_the_environment;
    return undestroyed<by_the_environment, profile_options>();
}

bool equal(const char* text, const char* word) noexcept {
    return text != nullptr && std::strcmp(text, word) == 0;
}

constinit fault_record not_recorded{"coroscope: nothing is recorded: "};
constinit fault_record not_as_asked{"coroscope: not all is recorded: "};
static_assert(profile_options{}.policy == overflow::drop_newest);

// The policies are in the order of the variable's words.
void read_policy(profile_options& options) noexcept {
    constexpr overflow policies[] = {overflow::drop_newest, overflow::overwrite_oldest,
                                     overflow::wait};
    if (const int word = word_of(variable::policy); word >= 0) options.policy = policies[word];
}

// The number of bits by which the suffix shifts a number to the left; negative if there is no such
// suffix.
int shift_of(const char* suffix) noexcept {
    constexpr const char* suffixes[] = {"", "K", "M", "G"};
    for (int at = 0; at < 4; ++at)
        if (equal(suffix, suffixes[at])) return 10 * at;
    return -1;
}

// Returns 0 if `text` is not a size. A text with a sign is refused, although strtoull() would
// accept it and wrap.
std::uint64_t size_from(const char* text) noexcept {
    if (*text < '0' || *text > '9') return 0;
    char* suffix = nullptr;
    errno = 0;
    const std::uint64_t count = std::strtoull(text, &suffix, 10);
    const int shift = shift_of(suffix);
    const bool fits = errno == 0 && shift >= 0 && count <= ~std::uint64_t{0} >> shift;
    return fits ? count << shift : 0;
}

void read_size(variable which, std::size_t& bytes) noexcept {
    const char* text = value_of(which);
    if (text == nullptr) return;
    const std::uint64_t given = size_from(text);
    if (given != 0)
        bytes = given;
    else
        report_value(which, text);
}

void read_kept_files(profile_options& options) noexcept {
    constexpr std::uint64_t most = 1'000'000;
    const char* text = value_of(variable::keep);
    if (text == nullptr) return;
    const std::uint64_t files = size_from(text);
    if (files != 0 && files <= most)
        options.keep_files = static_cast<std::uint32_t>(files);
    else
        report_value(variable::keep, text);
}

void read_sampling(profile_options& options) noexcept {
    if (const char* text = value_of(variable::sample); text != nullptr) {
        options.request_interval = trace::interval_from(text);
        if (options.request_interval == 0) report_value(variable::sample, text);
    }
    if (const char* text = value_of(variable::budget); text != nullptr) {
        options.budget_percent = trace::percent_from(text);
        if (options.budget_percent < 0) {
            report_value(variable::budget, text);
            options.budget_percent = 0;
        }
    }
}

constexpr struct {
    trace::variable is;
    bool profile_options::* option;
} switches[] = {
    {variable::arguments, &profile_options::record_arguments},
    {variable::shapes, &profile_options::record_shapes},
    {variable::flops, &profile_options::with_flops},
    {variable::memory, &profile_options::profile_memory},
    {variable::stacks, &profile_options::with_stack},
    {variable::modules, &profile_options::with_modules},
};

// One line for each feature that was asked for and has no data.
void say_what_is_missing(std::uint64_t without_data) noexcept {
    for (const trace::program_feature& each : trace::program_features) {
        if ((without_data & each.feature) == 0) continue;
        char text[192];
        std::snprintf(text, sizeof text, "%s: %s", trace::name_of(each.asked_by), each.without_it);
        fault_record{not_as_asked.line}.note(text);
    }
}

void stop_environment_session() noexcept {
    records_children = false;
    if (environment_session == 0) return;
    say_what_is_missing(stop_session(environment_session).without_data);
    environment_session = 0;
}

// Prints the reason ("The limit leaves …"), the system's error and the file.
void say_why(const start_result& refused) noexcept {
    char text[256];
    std::snprintf(text, sizeof text, "%s (%s) COROSCOPE_TRACE=%s", refused.message,
                  std::strerror(refused.error_number), asked().output.c_str());
    not_recorded.note(text);
}

// The answer to the program's own sessions, which are refused meanwhile.
void name_the_trace() noexcept {
    static char text[4096 + 128];
    std::snprintf(text, sizeof text,
                  "Profiler is already enabled on this thread: coroscope run or COROSCOPE_TRACE "
                  "records the process into %s.",
                  asked().output.c_str());
    explain_refusals(environment_session, text);
}

void start_asked() noexcept {
    asked().output = environment_file();
    start_result started = start_session(asked());
    if (started.error_number == EBUSY) {
        if (const char* beside = environment_file_beside(); beside != nullptr) {
            asked().output = beside;
            started = start_session(asked());
        }
    }
    environment_session = started.generation;
    if (started.generation == 0) return say_why(started);
    name_the_trace();
    if (asked().use_device != nullptr && *started.message != '\0')
        not_as_asked.note(started.message);
}

// Checks again, because another thread of the child may have ended the environment's recording
// meanwhile.
void record_forked_child() noexcept {
    if (records_children) start_asked();
}

// A forked child starts its session at its first record, not in this handler: a fork handler may
// make only async-signal-safe calls, and a child that calls exec() at once should leave no file.
constinit fork_guest around_forks{.rank = fork_rank::process, .in_child = []() noexcept {
                                      environment_session = 0;
                                      if (records_children && may_start_threads_after_fork())
                                          start_at_first_record(record_forked_child);
                                  }};

void read_options() noexcept {
    asked().all_threads = true;
    read_policy(asked());
    read_size(variable::limit, asked().limit_bytes);
    read_size(variable::rotate, asked().rotate_bytes);
    read_kept_files(asked());
    read_sampling(asked());
    for (const auto& each : switches) asked().*each.option = is_switched_on(each.is);
    asked().thread_states = word_of(variable::thread_states) != 1;  // the second word: 0
    if (is_switched_on(variable::crash)) asked().crash_report = STDERR_FILENO;
    if (const char* device = value_of(variable::device)) asked().use_device = device;
}

// Returns the threshold in nanoseconds, or the default if the variable has no valid value.
std::uint64_t shortest_blocking_call() noexcept {
    constexpr std::uint64_t usual_ns = 1'000'000;
    constexpr std::uint64_t most_us = 1'000'000'000;
    const char* text = value_of(variable::blocking_us);
    if (text == nullptr) return usual_ns;
    char* end = nullptr;
    const std::uint64_t us = *text >= '0' && *text <= '9' ? std::strtoull(text, &end, 10) : 0;
    if (end != nullptr && *end == '\0' && us <= most_us) return us * 1000;
    report_value(variable::blocking_us, text);
    return usual_ns;
}

// Returns the feature if its variable is set and its calls can be seen.
std::uint64_t interposed_feature(variable which, trace::session_features feature,
                                 bool (*watch)() noexcept) noexcept {
    if (!is_switched_on(which)) return 0;
    if (watch()) return feature;
    char text[192];
    const trace::variable_row& row = trace::row_of(which);
    std::snprintf(
        text, sizeof text,
        "%s needs LD_PRELOAD=libcoroscope-interpose.so, as set by coroscope run --record %s",
        row.name, row.recorded);
    not_as_asked.note(text);
    return 0;
}

std::uint64_t features_for_all_sessions() noexcept {
    std::uint64_t features = 0;
    if (is_switched_on(variable::open_scopes)) features |= trace::feature_open_scopes;
    features |= interposed_feature(variable::blocking, trace::feature_blocking, []() noexcept {
        return watch_blocking_calls(shortest_blocking_call());
    });
    features |= interposed_feature(variable::locks, trace::feature_locks, watch_lock_waits);
    return features;
}

void record_from_environment() noexcept {
    const char* named = value_of(variable::trace);
    if (named == nullptr) return;
    if (!name_environment_file(named))
        return not_recorded.note("The path in COROSCOPE_TRACE is too long.");
    read_options();
    start_asked();
    if (environment_session == 0) return;
    records_children = true;
    std::atexit(stop_environment_session);
}

// `word` is the position of the variable's value among "1", "0" and "switches"; -1: none of these.
void trust_filter_by(int word) noexcept {
    if (word == 0) trust_filter(filter_trust::samples);
    if (word == 2) trust_filter(filter_trust::switches);
}

// If the runtime is linked statically, the priority makes this constructor run before those of the
// program's static objects, so that their scopes are recorded. A shared library's constructors run
// before the program's in any case. So the exit handler that is registered here runs after the
// program's handlers.
[[gnu::constructor(101)]] void start_from_environment() noexcept {
    join_forks(around_forks);
    if (is_switched_on(variable::live)) track_live_tasks(true);
    if (is_switched_on(variable::anomaly)) detect_anomalies_for_good();
    ask_for_in_all_sessions(features_for_all_sessions());
    if (is_switched_on(variable::spawns)) look_for_call_paths();
    trust_filter_by(word_of(variable::thread_states));
    word_of(variable::clock);  // reported here, not when a clock is first read
    record_from_environment();
}

}  // namespace
}  // namespace coroscope::runtime::inline process
