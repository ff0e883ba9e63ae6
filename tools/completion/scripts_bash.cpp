// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scripts.hpp"

namespace coroscope::tools {
namespace {

/// The names that are written before the cursor, and the words that may follow them.
std::string value_case(const command_words& command, const option_words& option) {
    if (option.value.empty()) return {};
    std::string names;
    for (const std::string& name : option.names)
        names += fmt::format("{}'{} {}'", names.empty() ? "" : " | ", command.name, name);
    const std::string words =
        option.choices.empty()
            ? std::string(option.is_path ? "compgen -f -- \"$word\"" : "")
            : fmt::format("compgen -W '{}' -- \"$word\"", joined(option.choices));
    return fmt::format("        {}) mapfile -t COMPREPLY < <({}); return ;;\n", names,
                       words.empty() ? ":" : words);
}

std::string options_case(const command_words& command) {
    std::vector<std::string> names;
    for (const option_words& option : command.options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return fmt::format("        {}) options='{}' ;;\n", command.name, joined(names));
}

}  // namespace

std::string bash_script(const std::vector<command_words>& commands) {
    std::vector<std::string> names;
    std::string values;
    std::string options;
    for (const command_words& command : commands) {
        names.push_back(command.name);
        for (const option_words& option : command.options) values += value_case(command, option);
        options += options_case(command);
    }
    return fmt::format(R"(# Completes the words of the coroscope command in bash.
_coroscope() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command='' options=''
    ((COMP_CWORD < 2)) || command=${{COMP_WORDS[1]}}
    case "$command $before" in
{}    esac
    case $command in
        '') mapfile -t COMPREPLY < <(compgen -W '{}' -- "$word"; compgen -f -- "$word"); return ;;
{}    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    elif [[ $command == run ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}}
complete -o filenames -F _coroscope coroscope
)",
                       values, joined(names), options);
}

}  // namespace coroscope::tools
