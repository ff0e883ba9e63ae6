// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../lib/analysis/text/format_characters.hpp"
#include "../lib/analysis/text/utf8.hpp"
#include "subcommand.hpp"
#include "wrapped_text.hpp"

namespace coroscope::tools {
namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view plain = "\x1b[0m";

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

bool colour_wanted(int descriptor) {
    const char* terminal = std::getenv("TERM");
    return ::isatty(descriptor) == 1 && !is_set("NO_COLOR") && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
}

std::string_view colour_of(std::string_view line) {
    if (line.empty()) return {};
    if (line.find_first_not_of("-= ") == std::string_view::npos) return dim;
    if (line.starts_with("slowest request: ")) return bold;
    for (const char* loss : {"Lost records: ", "Damage", "Warnings", "The process ended before",
                             "Scopes that were open", "The trace stopped growing"}) {
        if (line.starts_with(loss)) return yellow;
    }
    return {};
}

std::string coloured(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::string_view colour = colour_of(line);
        out.append(colour).append(line).append(colour.empty() ? std::string_view() : plain);
        text.remove_prefix(line.size());
        if (!text.empty()) out += '\n';
        text.remove_prefix(text.empty() ? 0 : 1);
    }
    return out;
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const std::size_t bytes = analysis::utf8_sequence(text);
        const std::string_view character = text.substr(0, bytes);
        const bool is_shown =
            bytes != 0 && !analysis::is_control(character) && !analysis::is_format(character);
        line += is_shown ? character : std::string_view("?");
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return line;
}

int write_all(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int print(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error == 0 || error == EPIPE) return exit_success;
    report("standard output", {std::generic_category().message(error)});
    return exit_failure;
}

std::size_t terminal_width() { return terminal_width_of(STDOUT_FILENO); }

std::size_t terminal_width_of(int descriptor) {
    winsize size{};
    if (::isatty(descriptor) != 1) return 0;
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return least_width;
    return std::max(std::size_t{size.ws_col}, least_width);
}

int print_text(std::string_view text, std::size_t width) {
    const std::string lines = width == 0 ? std::string(text) : wrapped(text, width);
    return colour_wanted(STDOUT_FILENO) ? print(coloured(lines)) : print(lines);
}

int print_text_on_error(std::string_view text) {
    const std::size_t width = terminal_width_of(STDERR_FILENO);
    const std::string lines = width == 0 ? std::string(text) : wrapped(text, width);
    const bool has_colour = colour_wanted(STDERR_FILENO);
    return write_all(STDERR_FILENO, has_colour ? coloured(lines) : lines) == 0 ? exit_success
                                                                               : exit_failure;
}

void report(std::string_view message) {
    write_all(STDERR_FILENO, fmt::format("coroscope: {}\n", one_line(message)));
}

void report(std::string_view file, const analysis::failure& error) {
    write_all(STDERR_FILENO, error_line(file, error));
}

std::string error_line(std::string_view file, const analysis::failure& error) {
    std::string text = fmt::format("coroscope: {}: {}", file, error.message);
    if (error.byte_offset) text += fmt::format(" (byte {})", *error.byte_offset);
    return one_line(text) + '\n';
}

progress::progress(std::string what) : what_(std::move(what)) {
    if (::isatty(STDERR_FILENO) == 1) watcher_ = std::thread([this] { watch(); });
}

progress::~progress() {
    if (!watcher_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        done_ = true;
    }
    ended_.notify_one();
    watcher_.join();
}

/// Silent for a second: most work is done by then.
void progress::watch() {
    std::unique_lock lock(mutex_);
    int seconds = 0;
    while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
        write_all(STDERR_FILENO, fmt::format("\r{} ({} s)", one_line(what_), ++seconds));
    }
    if (seconds != 0) write_all(STDERR_FILENO, "\r\x1b[K");
}

}  // namespace coroscope::tools
