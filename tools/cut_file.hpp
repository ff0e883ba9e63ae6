// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command maps the files that it reads. This is several times faster than copying them. If
// another process cuts a mapped file, the next access beyond the new end raises SIGBUS.

#include <string>

namespace coroscope::tools {

/// While it lives, a cut of `file` ends the command with one line and exit_failure. Only one may
/// live at a time.
class cut_file_watch {
public:
    explicit cut_file_watch(const std::string& file);
    cut_file_watch(const cut_file_watch&) = delete;
    cut_file_watch& operator=(const cut_file_watch&) = delete;
    ~cut_file_watch();

private:
    std::string message_;  // the text that the signal's handler writes
};

}  // namespace coroscope::tools
