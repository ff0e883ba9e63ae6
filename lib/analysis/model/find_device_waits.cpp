// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis {

index_range find_device_waits(const trace& loaded, std::uint32_t await) {
    if (await == none) return {};
    device_wait sought;
    sought.await = await;
    const auto [first, end] = std::equal_range(
        loaded.device_waits.begin(), loaded.device_waits.end(), sought,
        [](const device_wait& left, const device_wait& right) { return left.await < right.await; });
    return {static_cast<std::uint32_t>(first - loaded.device_waits.begin()),
            static_cast<std::uint32_t>(end - first)};
}

}  // namespace coroscope::analysis
