// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace coroscope::runtime {

/// The calling thread is not cancelled while this lives. To be cancelled is to be unwound out of open(), write(),
/// pthread_join() and their like, which ends the process where a function of ours on the way is noexcept: around every such
/// call on a thread of the program's. The thread is cancelled at the next such call of its own.
class uncancelled {
public:
    uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    uncancelled(const uncancelled&) = delete;
    uncancelled& operator=(const uncancelled&) = delete;
    ~uncancelled() { ::pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace coroscope::runtime
