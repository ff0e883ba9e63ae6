// SPDX-License-Identifier: Apache-2.0
#include "sampling_options.hpp"

#include <algorithm>

namespace coroscope::runtime::inline sessions {
namespace {

std::uint32_t least_interval(const profile_options& options) noexcept {
    return std::clamp(options.request_interval, 1U, largest_interval);
}

// The options must be checked already. A budget that is too small to be stored becomes the smallest
// one, because 0 means no budget.
std::uint32_t budget_ppm(const profile_options& options) noexcept {
    constexpr double ppm_per_percent = 1e4;
    if (options.budget_percent == 0) return 0;
    return std::max(1U, static_cast<std::uint32_t>(options.budget_percent * ppm_per_percent));
}

}  // namespace

void prepare_sampling(session& slot, const profile_options& options,
                      budget_settings& budget) noexcept {
    const std::uint32_t interval = least_interval(options);
    budget = {budget_ppm(options), interval, &slot.request_interval, &slot.cost_ppm};
    slot.samples.store(interval > 1 || budget.budget_ppm != 0, std::memory_order_relaxed);
    slot.request_interval.store(interval, std::memory_order_relaxed);
    slot.told_interval.store(interval, std::memory_order_relaxed);
    slot.cost_ppm.store(0, std::memory_order_relaxed);
}

void describe_sampling(trace::file_header& header, const profile_options& options) noexcept {
    header.request_interval = header.least_interval = least_interval(options);
    header.budget_ppm = budget_ppm(options);
}

}  // namespace coroscope::runtime::inline sessions
