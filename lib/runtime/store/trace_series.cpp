// SPDX-License-Identifier: Apache-2.0
#include "trace_series.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <unistd.h>

#include "trace_file.hpp"

namespace coroscope::runtime::inline store {
namespace {

constexpr std::string_view ending = ".cst";
constexpr std::uint32_t largest_number = 4'000'000'000;
// Removing is bounded, whatever numbers the folder has.
constexpr std::uint32_t most_removed = 4096;

// Returns the number in "STEM.N.cst", or 0 if the name is another one.
std::uint32_t number_in(std::string_view name, std::string_view stem) noexcept {
    if (!name.starts_with(stem) || !name.ends_with(ending)) return 0;
    name.remove_prefix(stem.size());
    if (name.size() <= ending.size() || name.front() != '.') return 0;
    name = name.substr(1, name.size() - 1 - ending.size());
    std::uint64_t number = 0;
    for (const char digit : name) {
        if (digit < '0' || digit > '9' || number > largest_number) return 0;
        number = 10 * number + static_cast<std::uint64_t>(digit - '0');
    }
    const bool usual = !name.empty() && name.front() != '0' && number <= largest_number;
    return usual ? static_cast<std::uint32_t>(number) : 0;
}

}  // namespace

int trace_series::begin(const char* path, std::uint32_t keep) noexcept {
    std::string_view stem = path;
    if (stem.ends_with(ending)) stem.remove_suffix(ending.size());
    char folder[longest_path] = {};
    const bool absolute = *path == '/' || ::getcwd(folder, sizeof folder) == nullptr;
    // The program may change its folder before the next file begins.
    const int length =
        std::snprintf(stem_, sizeof stem_, "%s%s%.*s", absolute ? "" : folder, absolute ? "" : "/",
                      static_cast<int>(stem.size()), stem.data());
    if (length < 0 || static_cast<std::size_t>(length) >= longest_path - longest_ending)
        return ENAMETOOLONG;
    keep_ = std::max(keep, 1U);
    oldest_ = 1;
    newest_ = 0;
    find_files();
    return newest_ != 0 && is_being_recorded(path_of(newest_)) ? EBUSY : 0;
}

void trace_series::trim() noexcept {
    if (newest_ <= keep_) return;
    const std::uint32_t first_kept = newest_ - keep_ + 1;
    if (first_kept - std::min(first_kept, oldest_) > most_removed)
        oldest_ = first_kept - most_removed;
    for (; oldest_ < first_kept && !is_being_recorded(path_of(oldest_)); ++oldest_)
        remove_trace_file(path_of(oldest_));
}

const char* trace_series::path_of(std::uint32_t number) noexcept {
    constexpr int most = longest_path - longest_ending - 1;  // begin() has checked this
    std::snprintf(path_, sizeof path_, "%.*s.%u.cst", most, stem_, number);
    return path_;
}

// If the folder cannot be read, the numbers begin at 1.
void trace_series::find_files() noexcept {
    char* const slash = std::strrchr(stem_, '/');
    const std::string_view stem = slash == nullptr ? stem_ : slash + 1;
    char folder[longest_path] = ".";
    if (slash != nullptr)
        std::snprintf(folder, sizeof folder, "%.*s", static_cast<int>(slash - stem_ + 1), stem_);
    DIR* const names = ::opendir(folder);
    if (names == nullptr) return;
    while (const dirent* each = ::readdir(names)) {
        const std::uint32_t number = number_in(each->d_name, stem);
        if (number == 0) continue;
        oldest_ = newest_ == 0 ? number : std::min(oldest_, number);
        newest_ = std::max(newest_, number);
    }
    ::closedir(names);
}

}  // namespace coroscope::runtime::inline store
