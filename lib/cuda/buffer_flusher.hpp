// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread that asks CUPTI for its complete records. If CUPTI records the times when kernels were
// queued, it keeps full buffers until it is asked for them. Without this thread, a program with
// many launches would leave CUPTI no free buffer.

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cupti_library.hpp"

namespace coroscope::cuda {

/// start() and stop() must be called one after the other. Any thread may call wake().
class buffer_flusher {
public:
    /// Starts the thread. Does nothing if memory is short; records may then be lost, and are
    /// counted.
    void start(const cupti_functions& cupti) noexcept;

    /// Must be called when CUPTI has taken a buffer, because there will be records.
    void wake() noexcept;

    /// On return the thread has ended. Does nothing if there is none.
    void stop() noexcept;

private:
    void run() noexcept;
    bool wait_for_buffers(std::unique_lock<std::mutex>& lock);

    const cupti_functions* cupti_ = nullptr;
    std::mutex mutex_;  ///< guards the two below
    bool wanted_ = false;
    bool ending_ = false;
    std::condition_variable changed_;
    std::thread thread_;
};

}  // namespace coroscope::cuda
