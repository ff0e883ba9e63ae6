// SPDX-License-Identifier: Apache-2.0
#pragma once

// Signals put off. Around the start of a thread of ours: all stay with the program's threads. SIGXFSZ above all: it is
// raised in the thread that grows a file beyond the limit, where it is to be an error and no death. A fault of
// ours still reaches the program's handler, which the kernel passes over where the signal is blocked.

#include <csignal>

namespace coroscope::runtime {

/// Blocks all but faults for this thread; returns what it had blocked. Async-signal-safe.
inline sigset_t block_signals() noexcept {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}
inline void restore_signals(const sigset_t& before) noexcept {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

class blocked_signals {
public:
    blocked_signals() noexcept : before_(block_signals()) {}
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { restore_signals(before_); }

private:
    sigset_t before_;
};

}  // namespace coroscope::runtime
