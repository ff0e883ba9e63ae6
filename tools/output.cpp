// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "subcommand.hpp"

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

bool colour_wanted() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && !is_set("NO_COLOR") && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
}

std::string_view colour_of(std::string_view line) {
    if (line.empty()) return {};
    if (line.find_first_not_of("-= ") == std::string_view::npos) return dim;
    if (line.starts_with("slowest request: ")) return bold;
    for (const char* loss : {"Lost records: ", "Damage", "Warnings", "The process ended before",
                             "The trace stopped growing"}) {
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

/// Bytes of the control character that `text` begins with, 0 where it begins with none: those of ASCII and, in two
/// bytes, U+0080 to U+009F, which a terminal may act on as well.
std::size_t control_at(std::string_view text) {
    const auto byte = [text](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    if (byte(0) == 0xC2 && (byte(1) & 0xE0U) == 0x80) return 2;
    return byte(0) < 0x20 || byte(0) == 0x7F ? 1 : 0;
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string line(text);
    for (std::size_t at = 0; at < line.size(); ++at) {
        const std::size_t bytes = control_at(std::string_view(line).substr(at));
        if (bytes != 0) line.replace(at, bytes, "?");
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

int print_text(std::string_view text) {
    return colour_wanted() ? print(coloured(text)) : print(text);
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
