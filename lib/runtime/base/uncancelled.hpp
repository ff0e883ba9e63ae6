// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace coroscope::runtime::inline base {

/// Disables the calling thread's cancellation for its lifetime. Cancellation unwinds the stack from
/// calls such as open(), write() and pthread_join(), and unwinding through a noexcept function of
/// ours ends the process. Use it around each such call on a thread of the program. The thread is
/// then cancelled at the program's own next cancellation point.
class uncancelled {
public:
    uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    uncancelled(const uncancelled&) = delete;
    uncancelled& operator=(const uncancelled&) = delete;
    ~uncancelled() { ::pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace coroscope::runtime::inline base
