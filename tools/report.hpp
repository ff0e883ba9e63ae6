// SPDX-License-Identifier: Apache-2.0
#pragma once

// coroscope report: one HTML file that shows a trace in a browser.

#include <string>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/report.hpp>

#include "subcommand.hpp"

namespace coroscope::tools {

void add_report(CLI::App& root, command_line& line);

/// Writes the report of a trace to a file, or to standard output for "-". Quotes sources below the
/// working folder unless the options name another one. Reports errors, and returns the exit code.
int write_report_to(const std::string& output, const analysis::trace& loaded,
                    const analysis::report_options& options);

/// Returns the working folder; empty if it is unknown.
[[nodiscard]] std::string working_folder();

}  // namespace coroscope::tools
