// SPDX-License-Identifier: Apache-2.0
#include "own_threads.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace coroscope::runtime {
namespace {

constinit std::atomic<bool> ending{false};

// By proc(5) the kernel has no link to the program any more once the main thread has ended. No descriptor is opened for it,
// which a program that closes those of others might take for one of its own.
bool main_thread_has_ended() noexcept {
    char program[1];
    return ::readlink("/proc/self/exe", program, sizeof program) < 0 && errno == ENOENT;
}

// It is the program's last thread: signals that were sent to the process meanwhile arrive.
void* end_process(void*) noexcept {
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    std::exit(0);
}

}  // namespace

void leave_real_time() noexcept {
    const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    if (policy != SCHED_FIFO && policy != SCHED_RR) return;
    const sched_param ordinary{};
    ::sched_setscheduler(0, SCHED_OTHER, &ordinary);
}

bool is_left_alone() noexcept {
    const std::uint32_t ours = own_thread::count.load(std::memory_order_relaxed);
    // The same before and after: else the program may have just stopped one of them.
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

}  // namespace coroscope::runtime
