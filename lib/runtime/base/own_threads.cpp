// SPDX-License-Identifier: Apache-2.0
#include "own_threads.hpp"

#include <coroscope/detail/thread_state.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "forks.hpp"

namespace coroscope::detail {

// Marked as used, because clang's link-time optimisation does not see the use in the assembly of
// here().
__thread thread_state this_thread __attribute__((tls_model("initial-exec"), used));

}  // namespace coroscope::detail

namespace coroscope::runtime::inline base {
namespace {

constinit std::atomic<bool> ending{false};

// The link /proc/self/exe is gone once the main thread has ended (proc(5)). No descriptor is
// opened, because a program that closes foreign descriptors could close it and reuse its number.
bool main_thread_has_ended() noexcept {
    char program[1];
    return ::readlink("/proc/self/exe", program, sizeof program) < 0 && errno == ENOENT;
}

// Runs when the program has no thread left. Unblocks all signals first, so that pending signals of
// the process are delivered before it exits.
void* end_process(void*) noexcept {
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    std::exit(0);
}

// A forked child has none of our threads.
constinit fork_guest around_forks{.rank = fork_rank::leftovers, .in_child = own_thread::forget_all};
[[gnu::constructor(101)]] void join() noexcept { join_forks(around_forks); }

}  // namespace

bool is_real_time() noexcept {
    constexpr int deadline = 6;  // SCHED_DEADLINE, which C libraries name late
    const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    return policy == SCHED_FIFO || policy == SCHED_RR || policy == deadline;
}

void leave_real_time() noexcept {
    if (!is_real_time()) return;
    const sched_param ordinary{};
    ::sched_setscheduler(0, SCHED_OTHER, &ordinary);
}

std::uint32_t own_thread::id_of_this() noexcept { return static_cast<std::uint32_t>(::gettid()); }

bool is_left_alone() noexcept {
    const std::uint32_t ours = own_thread::count.load(std::memory_order_relaxed);
    // Both counts must be equal: the program may stop one of our threads meanwhile.
    return threads_of_process() == ours + 1 && main_thread_has_ended() &&
           own_thread::count.load(std::memory_order_relaxed) == ours;
}

void end_process_left_alone() noexcept {
    if (ending.exchange(true, std::memory_order_relaxed)) return;
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, end_process, nullptr) == 0)
        ::pthread_detach(thread);
    else
        ending.store(false, std::memory_order_relaxed);  // there may be room for a thread later
}

}  // namespace coroscope::runtime::inline base
