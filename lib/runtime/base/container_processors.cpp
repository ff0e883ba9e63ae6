// SPDX-License-Identifier: Apache-2.0
#include "container_processors.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "control_groups.hpp"
#include "kept_errno.hpp"

namespace coroscope::runtime::inline base {
namespace {

constexpr std::size_t words_of_set = 128;  // 8192 processors

bool is_number(const char* text) noexcept { return *text >= '0' && *text <= '9'; }

std::uint64_t percent_of(std::uint64_t quota, std::uint64_t period) noexcept {
    constexpr std::uint64_t most = std::uint64_t{1} << 48;
    if (period == 0 || quota == 0 || quota > most) return no_group_limit;
    return std::max<std::uint64_t>(quota * 100 / period, 1);
}

// "QUOTA PERIOD", or "max PERIOD" for no limit.
std::uint64_t limit_of_version_2(std::string_view folder) noexcept {
    char text[64];
    if (!read_group_file(folder, "cpu.max", text, sizeof text) || !is_number(text))
        return no_group_limit;
    char* behind = text;
    const std::uint64_t quota = std::strtoull(text, &behind, 10);
    return percent_of(quota, std::strtoull(behind, nullptr, 10));
}

// The quota is -1 for no limit.
std::uint64_t limit_of_version_1(std::string_view folder) noexcept {
    char quota[32], period[32];
    if (!read_group_file(folder, "cpu.cfs_quota_us", quota, sizeof quota) || !is_number(quota) ||
        !read_group_file(folder, "cpu.cfs_period_us", period, sizeof period) || !is_number(period))
        return no_group_limit;
    return percent_of(std::strtoull(quota, nullptr, 10), std::strtoull(period, nullptr, 10));
}

constexpr group_limit processor_time{
    "cpu", {"/cpu", "/cpu,cpuacct"}, limit_of_version_1, limit_of_version_2};

}  // namespace

std::uint32_t usable_processors() noexcept {
    const kept_errno programs;
    unsigned long set[words_of_set] = {};
    const long bytes = ::syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    std::uint32_t count = 0;
    for (const unsigned long word : set)
        if (bytes > 0) count += static_cast<std::uint32_t>(std::popcount(word));
    return count;
}

std::uint32_t container_quota_percent(const char* root) noexcept {
    const std::uint64_t least = least_group_limit(processor_time, root);
    constexpr std::uint64_t most = ~std::uint32_t{0};
    return least == no_group_limit ? 0 : static_cast<std::uint32_t>(std::min(least, most));
}

}  // namespace coroscope::runtime::inline base
