// SPDX-License-Identifier: Apache-2.0
#pragma once

// Around the start of a thread of ours: all signals stay with the program's threads. SIGXFSZ above all: it is
// raised in the thread that grows a file beyond the limit, where it is to be an error and no death. A fault of
// ours still reaches the program's handler, which the kernel passes over where the signal is blocked.

#include <csignal>

namespace coroscope::runtime {

class blocked_signals {
public:
    blocked_signals() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ::sigdelset(&all, fault);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

}  // namespace coroscope::runtime
