// SPDX-License-Identifier: Apache-2.0

// What happens at the edges of the process: a session started by the environment, and fork.
//
//   COROSCOPE_TRACE=file       records the whole process into that file
//   COROSCOPE_POLICY=drop|overwrite|wait
//   COROSCOPE_LIMIT=bytes      bound of the trace; 64K, 64M, 64G: powers of two
//   COROSCOPE_ARGUMENTS=1, _SHAPES=1, _FLOPS=1, _MEMORY=1, _STACKS=1, _MODULES=1
//                              what profile_options asks for by record_arguments and those after it
//   COROSCOPE_CRASH=1          the async stack at a fatal signal, on stderr: profile_options::crash_report
//   COROSCOPE_DEVICE=cuda      records what GPUs do, too: integration/cuda.hpp
//   COROSCOPE_LIVE=1           tracks live tasks: async_stack.hpp
//   COROSCOPE_ANOMALY=1        reports tasks that fail on stderr: anomaly.hpp
//   COROSCOPE_USDT=1           shows scopes and tasks as probes: integration/usdt.hpp
//   COROSCOPE_CLOCK=monotonic  time by CLOCK_MONOTONIC, in every session of the process
//
// What is not understood is not guessed at: a line on stderr says what is done instead.
// A program that gained privileges ignores all of them. A child process that inherits the variables
// writes FILE.PID instead of its parent's file.

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <coroscope/anomaly.hpp>
#include <coroscope/async_stack.hpp>
#include <coroscope/profile.hpp>

#include "failures.hpp"
#include "fault_record.hpp"
#include "forked_mutex.hpp"
#include "forked_steps.hpp"
#include "observer_registry.hpp"
#include "registry.hpp"
#include "session.hpp"
#include "sites.hpp"

namespace coroscope::runtime {
namespace {

constexpr const char* owner_variable = "COROSCOPE_TRACE_OWNER";
constinit std::uint32_t environment_session = 0;

bool equal(const char* text, const char* word) noexcept {
    return text != nullptr && std::strcmp(text, word) == 0;
}

constinit fault_record no_policy{
    "coroscope: COROSCOPE_POLICY is drop, overwrite or wait; drop is used instead of "};
constinit fault_record no_limit{"coroscope: COROSCOPE_LIMIT is a number of bytes, or one of K, M "
                                "or G (64M); 1G is used instead of "};
static_assert(profile_options{}.limit_bytes == std::uint64_t{1} << 30 &&
              profile_options{}.policy == overflow::drop_newest);

bool is_set(const char* text) noexcept { return text != nullptr && *text != '\0'; }

void read_policy(const char* text, profile_options& options) noexcept {
    if (!is_set(text) || equal(text, "drop")) return;
    if (equal(text, "overwrite"))
        options.policy = overflow::overwrite_oldest;
    else if (equal(text, "wait"))
        options.policy = overflow::wait;
    else
        no_policy.note(text);
}

// By what a number with this behind it is to be shifted left; below 0: no such suffix.
int shift_of(const char* suffix) noexcept {
    constexpr const char* suffixes[] = {"", "K", "M", "G"};
    for (int at = 0; at < 4; ++at)
        if (equal(suffix, suffixes[at])) return 10 * at;
    return -1;
}

// 0: that is no size. A sign is none, though the C library reads it as a number of 64 bits.
std::uint64_t size_from(const char* text) noexcept {
    if (*text < '0' || *text > '9') return 0;
    char* suffix = nullptr;
    errno = 0;
    const std::uint64_t count = std::strtoull(text, &suffix, 10);
    const int shift = shift_of(suffix);
    const bool fits = errno == 0 && shift >= 0 && count <= ~std::uint64_t{0} >> shift;
    return fits ? count << shift : 0;
}

void read_limit(const char* text, profile_options& options) noexcept {
    if (!is_set(text)) return;
    const std::uint64_t bytes = size_from(text);
    if (bytes != 0)
        options.limit_bytes = bytes;
    else
        no_limit.note(text);
}

constexpr struct {
    const char* variable;
    bool profile_options::* option;
} switches[] = {
    {"COROSCOPE_ARGUMENTS", &profile_options::record_arguments},
    {"COROSCOPE_SHAPES", &profile_options::record_shapes},
    {"COROSCOPE_FLOPS", &profile_options::with_flops},
    {"COROSCOPE_MEMORY", &profile_options::profile_memory},
    {"COROSCOPE_STACKS", &profile_options::with_stack},
    {"COROSCOPE_MODULES", &profile_options::with_modules},
};

// The file of this process: the one named, or FILE.PID where a parent process has that one already.
// False where the name is too long for one.
bool own_path(char (&path)[4096], const char* named) noexcept {
    char self[24];
    std::snprintf(self, sizeof self, "%ld", static_cast<long>(::getpid()));
    const char* owner = ::secure_getenv(owner_variable);
    const bool inherited = owner != nullptr && std::strcmp(owner, self) != 0;
    const int length = std::snprintf(path, sizeof path, inherited ? "%s.%s" : "%s", named, self);
    if (!inherited) ::setenv(owner_variable, self, 1);
    return length > 0 && static_cast<std::size_t>(length) < sizeof path;
}

void stop_environment_session() noexcept {
    if (environment_session == 0) return;
    stop_session(environment_session);
    environment_session = 0;
}

// The child finds every lock free, whatever its parent's other threads were doing. Those under which the program's own code
// is called come first: it may need the others.
void before_fork() noexcept {
    lock_steps();
    lock_failures();
    sessions_mutex().lock();
    lock_all_for_fork();
    sites_mutex().lock();
    registry_mutex().lock();
}
void after_fork_in_parent() noexcept {
    registry_mutex().unlock();
    sites_mutex().unlock();
    unlock_all_after_fork();
    sessions_mutex().unlock();
    unlock_failures();
    unlock_steps();
}
void after_fork_in_child() noexcept {
    after_fork_in_parent();
    environment_session = 0;
    reset_after_fork();
    look_for_carried_observers();
}

void record_from_environment() noexcept {
    const char* named = ::secure_getenv("COROSCOPE_TRACE");
    if (named == nullptr || *named == '\0') return;
    static char path[4096];
    if (!own_path(path, named)) return;
    profile_options options{.output = path, .all_threads = true};
    read_policy(::secure_getenv("COROSCOPE_POLICY"), options);
    read_limit(::secure_getenv("COROSCOPE_LIMIT"), options);
    for (const auto& each : switches)
        options.*each.option = equal(::secure_getenv(each.variable), "1");
    if (equal(::secure_getenv("COROSCOPE_CRASH"), "1")) options.crash_report = STDERR_FILENO;
    if (const char* device = ::secure_getenv("COROSCOPE_DEVICE"))
        options.use_device = *device == '\0' ? nullptr : device;
    const start_result started = start_session(options);
    environment_session = started.generation;
    if (environment_session != 0) std::atexit(stop_environment_session);
}

// Before the program's own static objects where both are linked together, so that scopes in their constructors
// are recorded; a shared library is first in any case. What is registered here for the exit then comes last.
[[gnu::constructor(101)]] void start_from_environment() noexcept {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (equal(::secure_getenv("COROSCOPE_LIVE"), "1")) track_live_tasks(true);
    if (equal(::secure_getenv("COROSCOPE_ANOMALY"), "1")) detect_anomalies_for_good();
    record_from_environment();
}

}  // namespace
}  // namespace coroscope::runtime
