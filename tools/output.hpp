// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything the command writes goes through here: standard output, errors, progress.

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <coroscope/analysis/result.hpp>

namespace coroscope::tools {

/// Writes to standard output and gives the exit code: success too where the reader has left,
/// failure (told on standard error) where it cannot be written.
int print(std::string_view text);

/// The same for text that people read: in modest colour where standard output is a terminal that
/// wants it.
int print_text(std::string_view text);

/// What came from outside, as a file's name, on one line: control characters become "?".
[[nodiscard]] std::string one_line(std::string_view text);

/// "coroscope: MESSAGE" on standard error, on one line.
void report(std::string_view message);

/// "coroscope: FILE: what is wrong (byte OFFSET)".
void report(std::string_view file, const analysis::failure& error);

/// What that writes.
[[nodiscard]] std::string error_line(std::string_view file, const analysis::failure& error);

/// Writes all of `text` to a file descriptor; 0 or the errno.
int write_all(int descriptor, std::string_view text) noexcept;

/// Says on standard error what takes so long, if it is a terminal and it does; wipes it at the end.
class progress {
public:
    explicit progress(std::string what);
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

private:
    void watch();

    std::string what_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = false;
    std::thread watcher_;
};

}  // namespace coroscope::tools
