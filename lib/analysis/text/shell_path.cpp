// SPDX-License-Identifier: Apache-2.0
#include "shell_path.hpp"

#include <iterator>

#include <fmt/format.h>

#include "utf8.hpp"

namespace coroscope::analysis::inline text {
namespace {

constexpr std::string_view plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:@%+=-";

std::string quoted(std::string_view text) {
    std::string word = "'";
    for (const char each : text) {
        if (each == '\'')
            word += "'\\''";
        else
            word += each;
    }
    return word + '\'';
}

std::string escaped(std::string_view text) {
    std::string word = "$'";
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        if (byte < 0x20 || byte >= 0x7F || each == '\'' || each == '\\')
            fmt::format_to(std::back_inserter(word), "\\x{:02x}", byte);
        else
            word += each;
    }
    return word + '\'';
}

}  // namespace

std::string shell_path(std::string_view path) {
    std::string word = (path.starts_with('-') ? "./" : "") + std::string(path);
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    return printable(word) == word ? quoted(word) : escaped(word);
}

}  // namespace coroscope::analysis::inline text
