// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that the command writes.

#include <string>
#include <string_view>

namespace coroscope::tools {

/// The destination of output: a file, or standard output for "-". A file is opened by the first
/// write, so that an old file stays if there is nothing to write. A file that is not finished or
/// could not be written completely is removed, because a part of it is useless.
class destination {
public:
    explicit destination(const std::string& path);
    destination(const destination&) = delete;
    destination& operator=(const destination&) = delete;
    ~destination() { discard(); }

    bool write(std::string_view text);

    /// Removes the output.
    void discard();

    /// Closes the destination and returns 0 or an errno. A file to which nothing was written
    /// becomes empty.
    int finish();

    [[nodiscard]] int error() const noexcept { return error_; }
    [[nodiscard]] std::string name() const { return is_file_ ? path_ : "standard output"; }

private:
    void open();
    int close();

    std::string path_;
    bool is_file_;
    enum class state { unopened, open, closed } state_ = state::unopened;
    int descriptor_ = -1;
    int error_ = 0;
};

/// Reports that the destination could not be written, and returns the exit code. It is not an error
/// if the reader of a pipe has left.
int failed(const destination& to, int error);

/// Returns whether both paths name the same file.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

}  // namespace coroscope::tools
