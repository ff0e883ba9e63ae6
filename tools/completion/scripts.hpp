// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts that are made from the description of the command line.

#include <string>
#include <vector>

#include "command_words.hpp"

namespace coroscope::tools {

// The script by which a shell completes the words of the command line: the command, its options,
// their values, and files.
[[nodiscard]] std::string bash_script(const std::vector<command_words>& commands);
[[nodiscard]] std::string zsh_script(const std::vector<command_words>& commands);
[[nodiscard]] std::string fish_script(const std::vector<command_words>& commands);

/// The manual in the format of man pages.
[[nodiscard]] std::string manual_page(const std::vector<command_words>& commands,
                                      const std::string& description);

}  // namespace coroscope::tools
