// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that the command writes.

#include <string>
#include <string_view>

namespace coroscope::tools {

/// Where output goes: a file, or standard output for "-". A file is opened by the first write, so that what stood there
/// stays where there is nothing to write. One that is not finished, or could not be written whole, is removed: half of it
/// is of no use to anybody.
class destination {
public:
    explicit destination(const std::string& path);
    destination(const destination&) = delete;
    destination& operator=(const destination&) = delete;
    ~destination() { discard(); }

    bool write(std::string_view text);

    /// Gives up what was written.
    void discard();

    /// Closes it; a file to which nothing was written is then empty. The errno of what went wrong, or 0.
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

/// Reports that it could not be written, and gives the exit code. That the reader of a pipe has left is no error.
int failed(const destination& to, int error);

/// Whether both name one file.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

}  // namespace coroscope::tools
