// SPDX-License-Identifier: Apache-2.0
#include "system_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

constexpr std::string_view blanks = " \t\n";

}  // namespace

std::optional<std::string> read_text(const std::string& path, std::size_t most) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return std::nullopt;
    std::string text(most, '\0');
    std::size_t filled = 0;
    ssize_t got = 0;
    do {
        got = ::read(file, text.data() + filled, most - filled);
        if (got > 0) filled += static_cast<std::size_t>(got);
    } while ((got > 0 && filled < most) || (got < 0 && errno == EINTR));
    ::close(file);
    if (got < 0) return std::nullopt;
    text.resize(filled);
    return text;
}

std::optional<std::int64_t> read_number(const std::string& path) {
    const auto text = read_text(path, 64);
    std::int64_t number = 0;
    if (!text ||
        std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::optional<std::string_view> value_of(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == name)
            return trimmed(line.substr(colon + 1));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return std::nullopt;
}

bool has_word(std::string_view text, std::string_view word) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(blanks), text.size());
        if (text.substr(0, end) == word) return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

}  // namespace coroscope::tools
