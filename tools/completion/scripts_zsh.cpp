// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scripts.hpp"

namespace coroscope::tools {
namespace {

/// Returns the text as a word in single quotes.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char each : text) out += each == '\'' ? std::string("'\\''") : std::string(1, each);
    return out + '\'';
}

/// "'*--to[help]:FORMAT:(chrome perfetto)'", one for each name.
std::string arguments_of(const option_words& option) {
    std::string value;
    if (!option.value.empty()) {
        const std::string words = option.choices.empty() ? (option.is_path ? "_files" : " ")
                                                         : '(' + joined(option.choices) + ')';
        value = ':' + option.value + ':' + words;
    }
    std::string text;
    for (const std::string& name : option.names) {
        const std::string sign = name.starts_with("--") && !value.empty() ? "=" : "";
        text += ' ' + quoted('*' + name + sign + '[' + escaped(option.help, "[]:\\") + ']' + value);
    }
    return text;
}

std::string case_of(const command_words& command) {
    std::string text = fmt::format("        {}) _arguments -s", command.name);
    for (const option_words& option : command.options) text += arguments_of(option);
    if (command.name == "run")
        text += " '*::program:_normal'";
    else if (!command.operand.empty())
        text += " '*:trace:_files'";
    return text + " ;;\n";
}

}  // namespace

std::string zsh_script(const std::vector<command_words>& commands) {
    std::string names;
    std::string cases;
    for (const command_words& command : commands) {
        names += "        " + quoted(command.name + ':' + escaped(command.help, ":\\")) + '\n';
        cases += case_of(command);
    }
    return fmt::format(R"(#compdef coroscope
# Completes the words of the coroscope command in zsh.
_coroscope() {{
    local -a commands
    commands=(
{}    )
    if ((CURRENT == 2)); then
        _describe command commands
        _files
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{}    esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _coroscope "$@"
else
    compdef _coroscope coroscope
fi
)",
                       names, cases);
}

}  // namespace coroscope::tools
