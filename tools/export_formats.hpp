// SPDX-License-Identifier: Apache-2.0
#pragma once

// The formats of `coroscope export`: one entry per format in export_formats.cpp, which --to, its
// help and the export follow. docs/contributing/add_an_export_format.md has the steps.

#include <span>
#include <string>
#include <string_view>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/folded_stacks.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::tools {

/// The options that the writer of an export uses.
struct export_request {
    std::string file;
    std::string metric = "self_cpu_time_total";
    analysis::folded_time of = analysis::folded_time::wall;
    std::string table{};  ///< of a format that writes tables; empty: all
    bool csv_safe = false;
};

/// The messages of a format that a server takes by HTTP.
struct posted_format {
    /// Hands each message to the sink, which sends it.
    analysis::written (*write)(const analysis::trace&, const analysis::byte_sink&) = nullptr;
    std::string_view content_type{};
    std::string_view path{};  ///< on the server, if the address has none
};

/// A format can be written from a trace, from events, or from either. At least one of the functions
/// must not be null.
struct export_format {
    std::string_view name;  ///< the value of --to
    std::string_view help;
    /// Writes a native trace, with its tasks.
    analysis::written (*of_trace)(const export_request&, const analysis::trace&,
                                  const analysis::byte_sink&) = nullptr;
    /// Writes events: those of another profiler's trace, or those of a native trace by torch's
    /// rules.
    analysis::written (*of_events)(const export_request&, const analysis::event_list&,
                                   const analysis::byte_sink&) = nullptr;
    /// The program of the format, if it can also open --to chrome. The error message for a file
    /// that is not a native trace then suggests that format.
    std::string_view program{};
    /// Writes a native trace to a path, for a format that cannot be written to a sink.
    analysis::written (*to_path)(const analysis::trace&, const std::string& path) = nullptr;
    /// Whether it writes one table for each call of `of_trace`, that of export_request::table.
    bool has_tables = false;
    posted_format posts{};
};

[[nodiscard]] std::span<const export_format> export_formats() noexcept;

/// Precondition: a format has that name.
[[nodiscard]] const export_format& export_format_of(std::string_view name) noexcept;

}  // namespace coroscope::tools
