// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scripts.hpp"

namespace coroscope::tools {
namespace {

std::string in_quotes(const std::string& text) { return '\'' + escaped(text, "'\\") + '\''; }

std::string line_of(const command_words& command, const option_words& option) {
    std::string line =
        fmt::format("complete -c coroscope -n '__fish_seen_subcommand_from {}'", command.name);
    for (const std::string& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.choices.empty())
        line += " -x -a " + in_quotes(joined(option.choices));
    else if (!option.value.empty())
        line += option.is_path ? " -r -F" : " -x";
    return fmt::format("{} -d {}\n", line, in_quotes(option.help));
}

}  // namespace

std::string fish_script(const std::vector<command_words>& commands) {
    std::string text = "# Completes the words of the coroscope command in fish.\n";
    for (const command_words& command : commands)
        text += fmt::format("complete -c coroscope -n __fish_use_subcommand -a {} -d {}\n",
                            command.name, in_quotes(command.help));
    for (const command_words& command : commands)
        for (const option_words& option : command.options) text += line_of(command, option);
    return text;
}

}  // namespace coroscope::tools
