// SPDX-License-Identifier: Apache-2.0
#include "command_words.hpp"

#include <cstddef>
#include <string_view>

namespace coroscope::tools {
namespace {

std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char each : text) line += each == '\n' ? ' ' : each;
    return line;
}

/// "FORMAT:{text,csv}": the values between the braces.
std::vector<std::string> choices_of(std::string_view type) {
    const std::size_t begin = type.find('{');
    const std::size_t end = type.find('}');
    std::vector<std::string> choices;
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
        return choices;
    std::string_view rest = type.substr(begin + 1, end - begin - 1);
    while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find(','));
        choices.emplace_back(word);
        rest.remove_prefix(word.size() == rest.size() ? rest.size() : word.size() + 1);
    }
    return choices;
}

option_words words_of(const CLI::Option& option) {
    option_words words;
    for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
    words.help = on_one_line(option.get_description());
    if (option.get_items_expected_max() == 0) return words;
    const std::string type = option.get_type_name();
    words.value = type.substr(0, type.find_first_of(":, "));
    words.choices = choices_of(type);
    if (words.value.empty()) words.value = words.choices.empty() ? "VALUE" : "NAME";
    words.is_path = words.value == "PATH" || words.value == "FILE";
    return words;
}

}  // namespace

std::vector<command_words> describe_commands(const CLI::App& root) {
    std::vector<command_words> commands;
    for (const CLI::App* each : root.get_subcommands(nullptr)) {
        command_words words;
        words.name = each->get_name();
        words.help = on_one_line(each->get_description());
        words.footer = each->get_footer();
        for (const CLI::Option* option : each->get_options()) {
            if (option->get_positional())
                words.operand = option->get_name(true);
            else
                words.options.push_back(words_of(*option));
        }
        commands.push_back(std::move(words));
    }
    return commands;
}

std::string escaped(const std::string& text, std::string_view special) {
    std::string out;
    for (const char each : text) {
        if (special.find(each) != std::string_view::npos) out += '\\';
        out += each;
    }
    return out;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
    return text;
}

}  // namespace coroscope::tools
