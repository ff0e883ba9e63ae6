// SPDX-License-Identifier: Apache-2.0
#include "control_groups.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "kept_errno.hpp"

namespace coroscope::runtime::inline base {
namespace {

constexpr std::size_t longest_path = 4096;
constexpr std::size_t longest_list = 8192;  // for the list of control groups, some ten lines

// Reads as much of a file as fits into `size` bytes. The result is empty if the file cannot be
// read.
std::string_view read_file(const char* path, char* to, std::size_t size) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::size_t filled = 0;
    while (filled < size) {
        const ssize_t got = ::read(file, to + filled, size - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        filled += static_cast<std::size_t>(got);
    }
    ::close(file);
    return {to, filled};
}

struct hierarchy {
    const char* root;    // prefix of every path
    const char* folder;  // the hierarchy's folder in /sys/fs/cgroup; may be empty
    std::uint64_t (*limit)(std::string_view folder) noexcept;
};

// Returns the least limit of the group and of the groups above it. The group may have the host's
// name for it, so that its folder does not exist here; the groups above it are still checked.
std::uint64_t least_limit(const hierarchy& of, std::string_view group) noexcept {
    std::uint64_t least = no_group_limit;
    for (;;) {
        while (group.ends_with('/')) group.remove_suffix(1);
        char path[longest_path];
        const int length = std::snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%.*s", of.root,
                                         of.folder, static_cast<int>(group.size()), group.data());
        if (length > 0 && static_cast<std::size_t>(length) < sizeof path)
            least = std::min(least, of.limit({path, static_cast<std::size_t>(length)}));
        if (group.empty()) return least;
        const std::size_t slash = group.rfind('/');
        group = group.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
}

bool has_word(std::string_view list, std::string_view word) noexcept {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (list.substr(0, comma) == word) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

// A line is "number:controllers:group"; version 2 has number 0 and no controllers.
std::uint64_t limit_of_line(const group_limit& which, const char* root,
                            std::string_view line) noexcept {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return no_group_limit;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (group.find("..") != std::string_view::npos)
        return no_group_limit;  // outside the mounted part of the tree
    if (controllers.empty())
        return std::min(least_limit({root, "", which.version_2}, group),
                        least_limit({root, "/unified", which.version_2}, group));
    std::uint64_t least = no_group_limit;
    if (!has_word(controllers, which.controller)) return least;
    for (const char* const folder : which.folders)
        if (folder != nullptr)
            least = std::min(least, least_limit({root, folder, which.version_1}, group));
    return least;
}

}  // namespace

std::uint64_t least_group_limit(const group_limit& which, const char* root) noexcept {
    const kept_errno programs;
    char path[longest_path];
    const int length = std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return no_group_limit;
    char list[longest_list];
    std::string_view lines = read_file(path, list, sizeof list);
    std::uint64_t least = no_group_limit;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        least = std::min(least, limit_of_line(which, root, lines.substr(0, end)));
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return least;
}

bool read_group_file(std::string_view folder, const char* name, char* to,
                     std::size_t size) noexcept {
    char path[longest_path];
    const int length = std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(folder.size()),
                                     folder.data(), name);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return false;
    const std::string_view read = read_file(path, to, size - 1);
    to[read.size()] = '\0';
    return !read.empty();
}

}  // namespace coroscope::runtime::inline base
