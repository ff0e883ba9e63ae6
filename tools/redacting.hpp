// SPDX-License-Identifier: Apache-2.0
#pragma once

// The option --redact, and its work.

#include <string>

#include <CLI/CLI.hpp>
#include <coroscope/analysis/redact.hpp>

namespace coroscope::tools {

/// Adds --redact, a list such as "attr:user,arguments".
void add_redact_option(CLI::App& command, analysis::redaction& what);

/// Removes the values that must not leave the machine. Warns of each part of the list that names
/// none of the trace, because a misspelt key would let its values out.
void redact_or_warn(const std::string& file, analysis::trace& loaded,
                    const analysis::redaction& what);
void redact_or_warn(const std::string& file, analysis::event_list& loaded,
                    const analysis::redaction& what);

}  // namespace coroscope::tools
