// SPDX-License-Identifier: Apache-2.0
#pragma once

// The limit for the cost of recording, and the interval of requests that follows from the cost.

#include <atomic>
#include <cstdint>

namespace coroscope::runtime::inline store {

/// The numbers that a session and its helper share.
struct budget_settings {
    std::uint32_t budget_ppm = 0;      ///< of the process's processor time; 0: no limit
    std::uint32_t least_interval = 1;  ///< of requests; 1: all are recorded in full
    std::atomic<std::uint32_t>* request_interval = nullptr;  ///< one of so many; null: no requests
    std::atomic<std::uint32_t>* cost_ppm = nullptr;          ///< the cost in the last period
};

inline constexpr std::uint32_t largest_interval = 1U << 16;

/// Returns the interval for the next period.
constexpr std::uint32_t next_interval(std::uint32_t interval, const budget_settings& settings,
                                      std::uint32_t cost_ppm) noexcept {
    if (cost_ppm > settings.budget_ppm)
        return interval > largest_interval / 2 ? interval : interval * 2;
    // With half the interval, requests cost at most twice as much. A quarter of the budget is kept
    // free, so that the interval does not swing.
    const std::uint64_t doubled = std::uint64_t{cost_ppm} * 2;
    if (doubled > settings.budget_ppm - settings.budget_ppm / 4) return interval;
    return interval / 2 < settings.least_interval ? interval : interval / 2;
}

}  // namespace coroscope::runtime::inline store
