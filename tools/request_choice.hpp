// SPDX-License-Identifier: Apache-2.0
#pragma once

// The option --request, which several commands have.

#include <cstddef>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <coroscope/analysis/request_statistics.hpp>

namespace coroscope::tools {

/// Adds --request ID: a request's number, or the text of coroscope::current_request() in a log.
CLI::Option* add_request_option(CLI::App& command, std::string& request, const std::string& help);

/// Returns the request that the option names, a place in the list. If there is none, reports that.
[[nodiscard]] std::optional<std::size_t> find_request_or_report(const std::string& file,
                                                                const analysis::trace& loaded,
                                                                const analysis::request_list& list,
                                                                const std::string& asked);

}  // namespace coroscope::tools
