// SPDX-License-Identifier: Apache-2.0
#include "next_commands.hpp"

#include <algorithm>
#include <iterator>

#include "../lib/analysis/text/shell_path.hpp"

namespace coroscope::tools {
namespace {

/// A view and the words of one or two commands. FILE stands for the trace.
struct next_steps {
    std::string_view view;
    std::string_view first;
    std::string_view second;
};

constexpr next_steps steps_of_views[] = {
    {"summary", "report FILE -o report.html", "why FILE"},
    {"table", "awaits FILE", "path FILE"},
    {"awaits", "awaits FILE --blame", "path FILE"},
    {"tasks", "tasks FILE --tree", "tasks FILE --task ID"},
    {"requests", "requests FILE --request ID", "report FILE -o report.html"},
    {"path", "why FILE", "executors FILE"},
    {"why", "path FILE", "executors FILE"},
    {"executors", "path FILE", "blocking FILE"},
    {"locks", "path FILE", "blocking FILE"},
    {"blocking", "executors FILE", "locks FILE"},
    {"resources", "awaits FILE --blame", "path FILE"},
    {"values", "requests FILE", ""},
    {"streams", "awaits FILE", "export FILE --to perfetto"},
    {"ranges", "awaits FILE", "export FILE --to perfetto"},
    {"info", "summary FILE", "report FILE -o report.html"},
};

std::string command_line_of(std::string_view words, std::string_view file) {
    constexpr std::string_view placeholder = "FILE";
    std::string line = "coroscope ";
    const std::size_t at = words.find(placeholder);
    line.append(words.substr(0, at)).append(analysis::shell_path(file));
    return line.append(words.substr(at + placeholder.size()));
}

}  // namespace

std::string next_commands(std::string_view command, std::string_view file) {
    const auto* const found = std::ranges::find(steps_of_views, command, &next_steps::view);
    if (found == std::end(steps_of_views)) return {};
    std::string text = "Next: " + command_line_of(found->first, file);
    if (!found->second.empty()) text += "\n      " + command_line_of(found->second, file);
    return text + '\n';
}

}  // namespace coroscope::tools
