// SPDX-License-Identifier: Apache-2.0
#include "watcher.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "../base/blocked_signals.hpp"
#include "../base/clock.hpp"
#include "../base/forks.hpp"
#include "../base/futex.hpp"
#include "../base/own_threads.hpp"
#include "../base/sanitizers.hpp"
#include "../store/chunk.hpp"
#include "../writer/registry.hpp"
#include "allocations.hpp"
#include "kernel_log.hpp"
#include "private_descriptors.hpp"
#include "sample_watch.hpp"
#include "switch_watch.hpp"
#include "thread_table.hpp"
#include "wait_looks.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

using trace::thread_state_source;

// Without news for a while turns become rarer: a wake-up costs some 5 to 60 µs.
struct periods {
    long busy_ns;
    long quiet_ns;  // after 0.1 s
    long idle_ns;   // after 2 s
};
constexpr periods of_switches{8'000'000, 16'000'000, 64'000'000};
constexpr periods of_samples{5'000'000, 16'000'000, 64'000'000};
constexpr std::int64_t quiet_after_ns = 100'000'000;
constexpr std::int64_t idle_after_ns = 2'000'000'000;
constexpr long full_period_ns = 1'000'000;  // until the store's helper has made a chunk
constexpr std::int64_t longest_start_ns = 16'000'000;
constexpr std::uint64_t slice_ns = 100'000;

struct watcher_state {
    chunk_store* store = nullptr;  // null: there is no thread
    pthread_t thread{};
    std::uint32_t first = 0;                // the kernel's id of the thread that starts the session
    std::atomic<std::uint32_t> bell{0};     // futex on which the thread sleeps
    std::atomic<std::uint32_t> watches{0};  // futex of the start
    std::atomic<bool> stopping{false};
};
constinit watcher_state watcher;
constinit std::atomic<filter_trust> trusted{filter_trust::none};

bool has_filter() noexcept {
    constexpr int filter_mode = 2;
    return ::prctl(PR_GET_SECCOMP) == filter_mode;
}

bool may_ask(filter_trust needed) noexcept {
    return trusted.load(std::memory_order_relaxed) >= needed || !has_filter();
}

// From Linux 6.12 on, the scheduler runs a woken thread with short slices earlier if other threads
// are busy: after 0.1 ms instead of 4 to 8 ms with ten threads per processor.
void ask_for_short_slices() noexcept {
    struct {
        std::uint32_t size, policy;
        std::uint64_t flags;
        std::int32_t nice;
        std::uint32_t priority;
        std::uint64_t runtime, deadline, period;
    } wanted{};
    if (has_filter() || ::sched_getscheduler(0) != SCHED_OTHER) return;
    wanted.size = sizeof wanted;
    wanted.policy = SCHED_OTHER;
    wanted.nice = ::getpriority(PRIO_PROCESS, 0);
    wanted.runtime = slice_ns;
    ::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

void name_source(chunk_store& store, thread_state_source source, const char* message) noexcept {
    trace::file_header& header = store.header();
    std::strncpy(header.thread_states_message, message, sizeof header.thread_states_message - 1);
    publish_word(&header.thread_states, static_cast<std::uint64_t>(source));
}

void tell_start() noexcept {
    if (watcher.watches.load(std::memory_order_relaxed) == 0) futex_signal(watcher.watches);
}

bool is_stopping() noexcept { return watcher.stopping.load(std::memory_order_relaxed); }

long period_after(std::int64_t quiet_ns, const periods& which) noexcept {
    return quiet_ns < quiet_after_ns  ? which.busy_ns
           : quiet_ns < idle_after_ns ? which.quiet_ns
                                      : which.idle_ns;
}

template <class Watch>
void serve(Watch& watch, kernel_log& log, const periods& which) noexcept {
    std::int64_t busy_ns = monotonic_now();
    while (!is_stopping()) {
        // Acquire: pairs with stop_watching().
        const std::uint32_t bell = watcher.bell.load(std::memory_order_acquire);
        const std::int64_t now = monotonic_now();
        if (watch.turn(now)) busy_ns = now;
        const long period = log.is_ready() ? period_after(now - busy_ns, which) : full_period_ns;
        if (!is_stopping()) futex_wait(watcher.bell, bell, period);
    }
    watch.end();
}

// `refusal`: why there are no switches. Returns whether threads were watched.
bool watch_samples(kernel_log& log, wait_looks& looks, const char* refusal) noexcept {
    chunk_store& store = *watcher.store;
    thread_table threads;
    sample_watch samples(log, threads, looks);
    const bool begun = samples.begin(watcher.first);
    if (begun)
        name_source(store, thread_state_source::samples, refusal);
    else
        name_source(store, thread_state_source::refused,
                    "The kernel's files of threads cannot be read (/proc/self/task).");
    tell_start();
    if (begun) serve(samples, log, of_samples);
    return begun;
}

void watch_threads() noexcept {
    chunk_store& store = *watcher.store;
    if (take_private_descriptors() != 0)
        return name_source(store, thread_state_source::refused,
                           "A thread cannot have descriptors of its own here: Linux 5.9 has them.");
    kernel_log log(store);
    wait_looks looks;
    looks.begin();
    const char* refusal = nullptr;
    {
        thread_table threads;
        switch_watch switches(log, threads, looks);
        refusal = switches.begin(watcher.first, may_ask(filter_trust::switches));
        if (refusal == nullptr) {
            name_source(store, thread_state_source::switches,
                        switches.unfollowed() == 0
                            ? ""
                            : "Some threads are not followed: there are too few descriptors.");
            tell_start();
            serve(switches, log, of_switches);
        }
    }
    const bool watches = refusal == nullptr || watch_samples(log, looks, refusal);
    log.finish();
    if (watches && !log.has_begun())
        name_source(store, thread_state_source::refused,
                    "The trace has no room for states of threads: give it a larger limit.");
}

void* run(void*) noexcept {
    const own_thread counted;
    ::pthread_setname_np(::pthread_self(), "coroscope-kern");
    leave_thread_unobserved();
    ignore_leaks_of_this_thread();
    ask_for_short_slices();
    watch_threads();
    tell_start();
    return nullptr;
}

// A forked child has no such thread.
constinit fork_guest around_forks{.rank = fork_rank::leftovers,
                                  .in_child = []() noexcept { watcher.store = nullptr; }};
[[gnu::constructor(101)]] void join() noexcept {
    join_forks(allocations);
    join_forks(around_forks);
}

}  // namespace

void trust_filter(filter_trust trust) noexcept { trusted.store(trust, std::memory_order_relaxed); }

void start_watching(chunk_store& store) noexcept {
    if (!may_ask(filter_trust::samples))
        return name_source(store, thread_state_source::refused,
                           "A seccomp filter might end the process for it "
                           "(COROSCOPE_THREAD_STATES=1).");
    watcher.store = &store;
    watcher.first = static_cast<std::uint32_t>(::gettid());
    watcher.stopping.store(false, std::memory_order_relaxed);
    watcher.watches.store(0, std::memory_order_relaxed);
    int error = 0;
    {
        const blocked_signals inherited;
        error = ::pthread_create(&watcher.thread, nullptr, run, nullptr);
    }
    if (error != 0) {
        watcher.store = nullptr;
        return name_source(store, thread_state_source::refused,
                           "There is no thread to watch them.");
    }
    const std::int64_t end = monotonic_now() + longest_start_ns;
    for (std::int64_t now = monotonic_now(); now < end; now = monotonic_now()) {
        if (watcher.watches.load(std::memory_order_acquire) != 0)
            return;  // pairs with tell_start()
        futex_wait(watcher.watches, 0, end - now);
    }
}

void stop_watching(const chunk_store& store) noexcept {
    if (watcher.store != &store) return;
    watcher.stopping.store(true, std::memory_order_relaxed);
    futex_signal(watcher.bell);
    ::pthread_join(watcher.thread, nullptr);
    watcher.store = nullptr;
}

}  // namespace coroscope::runtime::inline kernel
