// SPDX-License-Identifier: Apache-2.0
#pragma once

// The service's own counters, for `GET /stats`. Any thread may count.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace http_service {

class statistics {
public:
    std::atomic<std::uint64_t> connections{0};
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> cache_hits{0};
    std::atomic<std::uint64_t> cache_misses{0};
    std::atomic<std::uint64_t> cache_evictions{0};

    /// Counts a request that ended in an exception and keeps its message.
    void note_failure(std::string message) {
        const std::lock_guard lock{mutex_};
        ++failures_;
        last_failure_ = std::move(message);
    }

    /// One `name value` line each.
    [[nodiscard]] std::string to_text() const;

private:
    mutable std::mutex mutex_;
    std::uint64_t failures_ = 0;
    std::string last_failure_;
};

}  // namespace http_service
