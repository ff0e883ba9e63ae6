// SPDX-License-Identifier: Apache-2.0
#include "buffer_flusher.hpp"

#include <chrono>
#include <system_error>

#include <pthread.h>

#include "../runtime/base/blocked_signals.hpp"

namespace coroscope::cuda {
namespace {

// 200,000 launches per second, at 440 bytes of records each, fill one buffer in this time.
constexpr std::chrono::milliseconds period{10};

}  // namespace

void buffer_flusher::start(const cupti_functions& cupti) noexcept {
    cupti_ = &cupti;
    {
        const std::lock_guard lock(mutex_);  // a thread of the program may call wake() now
        ending_ = false;
    }
    const runtime::blocked_signals inherited;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
    }
}

void buffer_flusher::wake() noexcept {
    const std::lock_guard lock(mutex_);
    if (wanted_) return;
    wanted_ = true;
    changed_.notify_one();
}

void buffer_flusher::stop() noexcept {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        changed_.notify_one();
    }
    thread_.join();
}

// Waits until there may be complete records. Returns false when the thread must end.
bool buffer_flusher::wait_for_buffers(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [this] { return wanted_ || ending_; });
    changed_.wait_for(lock, period, [this] { return ending_; });
    wanted_ = false;
    return !ending_;
}

void buffer_flusher::run() noexcept {
    ::pthread_setname_np(::pthread_self(), "coroscope-cupti");
    std::unique_lock lock(mutex_);
    while (wait_for_buffers(lock)) {
        lock.unlock();
        cupti_->flush_all(0);
        lock.lock();
    }
}

}  // namespace coroscope::cuda
