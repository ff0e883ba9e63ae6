// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places to which `coroscope export` writes: a file, a folder of tables, a server.

#include <functional>
#include <string>

#include <coroscope/analysis/event_exports.hpp>

#include "export_formats.hpp"

namespace coroscope::tools {

// Each writes the export, reports errors, and gives the exit code.

/// To a file, or to standard output for "-".
int write_to_file(const std::string& file, const std::string& output,
                  const std::function<analysis::written(const analysis::byte_sink&)>& write);

/// By the format's own function. `output` must be a path.
int write_to_path(const export_request& asked, const export_format& to,
                  const analysis::trace& loaded, const std::string& output);

/// A file per table into a folder, which is made if it does not exist.
int write_to_folder(const export_request& asked, const export_format& to,
                    const analysis::trace& loaded, const std::string& folder);

/// To a server: each part of the export is one message.
int write_to_server(const export_request& asked, const export_format& to,
                    const analysis::trace& loaded, const std::string& address);

}  // namespace coroscope::tools
