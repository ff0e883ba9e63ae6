// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files are mapped while they are read, which is several times faster than to copy them. Where somebody cuts a mapped
// file, the system answers the next access behind its new end with SIGBUS.

#include <string>

namespace coroscope::tools {

/// While it lives, that `file` was cut is an error like others: one line, and exit_failure. One at a time.
class cut_file_watch {
public:
    explicit cut_file_watch(const std::string& file);
    cut_file_watch(const cut_file_watch&) = delete;
    cut_file_watch& operator=(const cut_file_watch&) = delete;
    ~cut_file_watch();

private:
    std::string message_;  // what the signal's handler writes
};

}  // namespace coroscope::tools
