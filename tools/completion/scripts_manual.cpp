// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "scripts.hpp"

namespace coroscope::tools {
namespace {

/// Returns a text as one that roff prints: a backslash and a hyphen are escaped, and no line begins
/// with a control character.
std::string roff(const std::string& text) {
    std::string out;
    bool line_begins = true;
    for (const char each : text) {
        if (line_begins && (each == '.' || each == '\'')) out += "\\&";
        if (each == '\\')
            out += "\\e";
        else if (each == '-')
            out += "\\-";
        else
            out += each;
        line_begins = each == '\n';
    }
    return out;
}

std::string option_text(const option_words& option) {
    std::string names;
    for (const std::string& name : option.names)
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(option.value));
    std::string help = roff(option.help);
    if (!option.choices.empty()) help += " (" + roff(joined(option.choices)) + ')';
    return fmt::format(".TP\n{}\n{}\n", names, help);
}

std::string command_text(const command_words& command) {
    std::string text =
        fmt::format(".SS coroscope {}\n{}.\n", roff(command.name), roff(command.help));
    for (const option_words& option : command.options) text += option_text(option);
    if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
    return text;
}

}  // namespace

std::string manual_page(const std::vector<command_words>& commands,
                        const std::string& description) {
    std::string text =
        fmt::format(".TH COROSCOPE 1 \"\" \"coroscope {}\" \"User commands\"\n", COROSCOPE_VERSION);
    text += ".SH NAME\ncoroscope \\- profiler for C++20 coroutines and tasks\n";
    text += ".SH SYNOPSIS\n.B coroscope\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]\n.br\n"
            ".B coroscope run\n[\\fIOPTION\\fR]... \\-\\- \\fIPROGRAM\\fR [\\fIARGUMENT\\fR]...\n"
            ".br\n.B coroscope\n.I FILE\n";
    text += ".SH DESCRIPTION\n" + roff(description) + "\n.SH COMMANDS\n";
    for (const command_words& command : commands) text += command_text(command);
    return text + ".SH EXIT STATUS\n0 if the command succeeded, 1 if it failed, 2 if the command "
                  "line is wrong. \\fBrun\\fR exits as the program does.\n";
}

}  // namespace coroscope::tools
