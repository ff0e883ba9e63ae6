// SPDX-License-Identifier: Apache-2.0
#include "read_container.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "system_files.hpp"

namespace coroscope::tools {
namespace {

constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;  // version 1 has a number near 2^63

std::optional<std::uint64_t> bytes_in(const std::string& path) {
    const auto number = read_number(path);  // not of "max"
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) >= unlimited)
        return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::optional<double> ratio(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
    if (!part || !whole || *part <= 0 || *whole <= 0) return std::nullopt;
    return static_cast<double>(*part) / static_cast<double>(*whole);
}

/// The file contains "150000 100000", or "max 100000" if there is no quota.
std::optional<double> quota_in(const std::string& path) {
    const std::string text = read_text(path, 64).value_or("");
    const std::size_t blank = std::min(text.find(' '), text.size());
    const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
        std::int64_t value = 0;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
            return std::nullopt;
        return value;
    };
    return ratio(number(std::string_view(text).substr(0, blank)),
                 number(trimmed(std::string_view(text).substr(blank))));
}

template <class Value>
void keep_least(std::optional<Value>& least, const std::optional<Value>& other) {
    if (other && (!least || *other < *least)) least = other;
}

/// Calls `read` for the folders of a group and of the groups above it, and returns the least
/// result. The path may be the host's, so that the group's own folder does not exist here; the
/// others are still read.
template <class Read>
auto least_of(const std::string& mount, std::string_view group, Read read) {
    decltype(read(std::string())) least;
    for (;;) {
        while (group.ends_with('/')) group.remove_suffix(1);
        keep_least(least, read(mount + std::string(group)));
        if (group.empty()) return least;
        const std::size_t slash = group.rfind('/');
        group = group.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
}

bool lists(std::string_view controllers, std::string_view wanted) {
    while (!controllers.empty()) {
        const std::size_t comma = std::min(controllers.find(','), controllers.size());
        if (controllers.substr(0, comma) == wanted) return true;
        controllers.remove_prefix(std::min(comma + 1, controllers.size()));
    }
    return false;
}

void read_unified(const std::string& mount, std::string_view group, container_readings& into) {
    keep_least(into.memory_limit, least_of(mount, group, [](const std::string& folder) {
                   return bytes_in(folder + "/memory.max");
               }));
    keep_least(into.quota, least_of(mount, group, [](const std::string& folder) {
                   return quota_in(folder + "/cpu.max");
               }));
}

/// A line is "NUMBER:CONTROLLERS:GROUP"; version 2 has no controllers.
void read_line(const std::string& groups, std::string_view line, container_readings& into) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (group.find("..") != std::string_view::npos) return;  // outside of the mounted part
    if (controllers.empty()) {
        read_unified(groups, group, into);
        read_unified(groups + "/unified", group, into);
    }
    if (lists(controllers, "memory"))
        keep_least(into.memory_limit,
                   least_of(groups + "/memory", group, [](const std::string& folder) {
                       return bytes_in(folder + "/memory.limit_in_bytes");
                   }));
    if (lists(controllers, "cpu"))
        keep_least(into.quota, least_of(groups + "/cpu", group, [](const std::string& folder) {
                       return ratio(read_number(folder + "/cpu.cfs_quota_us"),
                                    read_number(folder + "/cpu.cfs_period_us"));
                   }));
}

}  // namespace

container_readings read_container(const std::string& root) {
    container_readings into;
    const auto list = read_text(root + "/proc/self/cgroup");
    into.groups_known = list.has_value();
    std::string_view lines = list ? std::string_view(*list) : std::string_view();
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        read_line(root + "/sys/fs/cgroup", line, into);
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    }
    return into;
}

}  // namespace coroscope::tools
