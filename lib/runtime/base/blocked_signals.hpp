// SPDX-License-Identifier: Apache-2.0
#pragma once

// Blocks signals for a while. A thread of ours starts with all signals blocked, so that the
// program's threads handle them. This matters most for SIGXFSZ: the kernel raises it in the thread
// that grows a file beyond the limit, and there it must be an error and not end the process.
// Signals of faults stay open, because the kernel ignores the program's handler for a fault whose
// signal is blocked.

#include <csignal>
#include <initializer_list>

namespace coroscope::runtime::inline base {

/// Blocks all signals except faults for this thread. Returns the mask from before.
/// Async-signal-safe.
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

}  // namespace coroscope::runtime::inline base
