// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything the command writes goes through here: standard output, errors, progress.

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <coroscope/analysis/result.hpp>

namespace coroscope::tools {

/// Writes to standard output and returns the exit code: success also if the reader has left,
/// failure (reported on standard error) if it cannot be written.
int print(std::string_view text);

/// The number of characters in a line of the terminal that is standard output, at least 80; 0 if
/// standard output is not a terminal.
[[nodiscard]] std::size_t terminal_width();

/// Like print() for text that people read: in modest colour if standard output is a terminal that
/// supports it. Lines longer than `width` are divided between words; 0: no limit.
int print_text(std::string_view text, std::size_t width = terminal_width());

/// The number of characters in a line of a terminal, at least 80; 0 if the descriptor is none.
[[nodiscard]] std::size_t terminal_width_of(int descriptor);

/// Like print_text(), to standard error.
int print_text_on_error(std::string_view text);

/// A text from outside, as a file's name, on one line: control and format characters, and bytes
/// that are not UTF-8, become "?".
[[nodiscard]] std::string one_line(std::string_view text);

/// "coroscope: MESSAGE" on standard error, on one line.
void report(std::string_view message);

/// "coroscope: FILE: the error (byte OFFSET)".
void report(std::string_view file, const analysis::failure& error);

/// The line that report() writes.
[[nodiscard]] std::string error_line(std::string_view file, const analysis::failure& error);

/// Writes all of `text` to a file descriptor; 0 or the errno.
int write_all(int descriptor, std::string_view text) noexcept;

/// Shows the progress of a long step on standard error, if that is a terminal; wipes it at the end.
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
