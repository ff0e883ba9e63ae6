// SPDX-License-Identifier: Apache-2.0
#pragma once

// A report: one HTML file that shows a native trace in a browser, offline. It holds the answers of
// the other commands, a timeline, flame graphs and tables. docs/how-to/report.md describes the
// page, and docs/contributing/report_data.md its data.
//
// Names of a trace are data in it: they can neither end an element nor run as code. The file makes
// no network request.
//
//     analysis::write_report(*loaded, sink, {.trace_path = "trace.cst"});
//
// Thread-safe for different traces; a trace is only read.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// A folder of sources: a recorded path below `from` is read below `to`.
struct source_folder {
    std::string from{};
    std::string to{};
};

struct report_options {
    std::string trace_path{};  ///< the name that the page shows
    /// The page shows every scope, task and await of a trace with at most this number of scopes.
    /// Of a larger trace it shows sums of everything, and the timeline of the slowest requests.
    std::uint64_t most_events = 1'000'000;
    /// Where to look for the lines of sources that the page quotes. Only source files below one of
    /// these folders `to`, or below `working_folder`, are read, whatever the trace names.
    std::vector<source_folder> source_folders{};
    std::string working_folder{};  ///< of recorded paths that no folder matches; empty: none
    std::string editor_link{};     ///< as editor_link() returns it; empty: the page has no links
    std::vector<std::string> redacted{};  ///< the names of the redacted values, for the page
    const trace* against = nullptr;       ///< an earlier trace, for comparison
    std::string against_path{};
};

/// Writes the report and returns the number of scopes in its timeline. Beside the loaded trace, it
/// needs about 20 bytes of memory per scope and the memory of check(). Fails if the sink fails.
[[nodiscard]] COROSCOPE_API written write_report(const trace& from, const byte_sink& sink,
                                                 const report_options& options = {});

/// Returns the link that opens a file in an editor. `name` is one of editor_names(), or a link with
/// "{file}" and, if the editor knows lines, "{line}". Fails if it is neither, or if the link could
/// run code in the page.
[[nodiscard]] COROSCOPE_API result<std::string> editor_link(std::string_view name);

/// Returns the names of the known editors, separated by ", ".
[[nodiscard]] COROSCOPE_API std::string editor_names();

}  // namespace coroscope::analysis
