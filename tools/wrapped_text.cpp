// SPDX-License-Identifier: Apache-2.0
#include "wrapped_text.hpp"

#include <algorithm>

#include "../lib/analysis/text/utf8.hpp"

namespace coroscope::tools {
namespace {

using analysis::count_characters;
using analysis::first_characters;

/// Returns the size in bytes of the part of `rest` that a line of `width` characters takes: up to
/// the last space in it, or, if the first word is longer, that word.
std::size_t size_of_line(std::string_view rest, std::size_t width) {
    if (count_characters(rest) <= width) return rest.size();
    const std::size_t most = first_characters(rest, width + 1).size();
    const std::size_t indent = std::min(rest.find_first_not_of(' '), rest.size());
    const std::size_t last = rest.substr(0, most).rfind(' ');
    if (last != std::string_view::npos && last > indent) return last;
    return std::min(rest.find(' ', indent), rest.size());
}

void append_wrapped(std::string& out, std::string_view line, std::size_t width) {
    // A deep indentation must leave room for words.
    const std::size_t indent = std::min({line.find_first_not_of(' '), line.size(), width / 2}) + 2;
    bool first = true;
    while (!line.empty()) {
        const std::size_t size = size_of_line(line, first ? width : width - indent);
        if (!first) out.append("\n").append(indent, ' ');
        out.append(line.substr(0, size));
        line.remove_prefix(size);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        first = false;
    }
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width) {
    std::string out;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        append_wrapped(out, line, width);
        text.remove_prefix(line.size());
        if (text.empty()) break;
        out += '\n';
        text.remove_prefix(1);
    }
    return out;
}

}  // namespace coroscope::tools
