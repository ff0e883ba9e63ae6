// SPDX-License-Identifier: Apache-2.0
#pragma once

// The commands and options of the command line as data, for shells and for the manual. They come
// from CLI11's description, so that a new command or option needs no change here.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace coroscope::tools {

/// An option of a command.
struct option_words {
    std::vector<std::string> names;    ///< "-o", "--output"
    std::string value;                 ///< the word for its value; empty: the option has none
    std::vector<std::string> choices;  ///< the values it may have; empty: any
    bool is_path = false;              ///< the value is a file or a folder
    std::string help;                  ///< on one line
};

/// A command.
struct command_words {
    std::string name;
    std::string help;  ///< on one line
    std::string footer;
    std::string operand;  ///< "FILE"; empty: it takes options only
    std::vector<option_words> options;
};

/// Returns the commands of the root in their order.
[[nodiscard]] std::vector<command_words> describe_commands(const CLI::App& root);

/// Returns `text` with a backslash before each character of `special`.
[[nodiscard]] std::string escaped(const std::string& text, std::string_view special);

/// Returns the words, separated by spaces.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

}  // namespace coroscope::tools
