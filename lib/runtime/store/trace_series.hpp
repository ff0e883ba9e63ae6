// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of a session that begins a new file from time to time: FILE.1.cst, FILE.2.cst and so
// on, for trace.cst trace.1.cst, trace.2.cst. The number only grows, also over runs of the program,
// so that a new run does not replace the last files of a run that crashed.
//
// Threads: one at a time.

#include <cstddef>
#include <cstdint>

namespace coroscope::runtime::inline store {

class trace_series {
public:
    /// Begins behind the files that exist. `keep` is the number of files that stay, at least 1.
    /// Returns 0 or an errno: ENAMETOOLONG, or EBUSY if another process records the same series.
    int begin(const char* path, std::uint32_t keep) noexcept;

    /// Returns the path of the next file. It is valid until the next call.
    const char* next() noexcept { return path_of(newest_ + 1); }

    /// Must be called when the next file exists.
    void advance() noexcept { ++newest_; }

    /// Removes the files that are too many, oldest first. A file that a process records stays until
    /// the next call, with all newer ones. Files that are not traces of this user are left alone.
    void trim() noexcept;

private:
    const char* path_of(std::uint32_t number) noexcept;
    void find_files() noexcept;

    static constexpr std::size_t longest_path = 4096;
    static constexpr std::size_t longest_ending = 16;  // ".4294967295.cst"

    char stem_[longest_path] = {};  // absolute, without .cst
    char path_[longest_path] = {};
    std::uint32_t keep_ = 1;
    std::uint32_t oldest_ = 1;  // no file has a smaller number
    std::uint32_t newest_ = 0;
};

}  // namespace coroscope::runtime::inline store
