// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time at which reading must stop.

#include <chrono>
#include <cstdint>
#include <optional>

namespace coroscope::analysis::inline records {

class deadline {
public:
    explicit deadline(const std::optional<double>& timeout_s) : timeout_s_(timeout_s) {}

    /// Reads the clock and returns whether the deadline has passed. Once true, it stays true.
    bool passed() {
        if (timeout_s_ && !passed_)
            passed_ = std::chrono::duration<double>(clock::now() - start_).count() >= *timeout_s_;
        return passed_;
    }
    /// The same, but reads the clock only at every 4096th count.
    bool passed_by(std::uint64_t count) {
        return timeout_s_ && (count & 4095U) == 0 ? passed() : passed_;
    }
    [[nodiscard]] bool has_passed() const { return passed_; }
    [[nodiscard]] double timeout_s() const { return timeout_s_.value_or(0); }
    [[nodiscard]] std::int64_t elapsed_ns() const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start_).count();
    }

private:
    using clock = std::chrono::steady_clock;
    std::optional<double> timeout_s_;
    clock::time_point start_ = clock::now();
    bool passed_ = false;
};

}  // namespace coroscope::analysis::inline records
