// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the commands share that read a trace and print data: their options, loading, warnings.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/load_events.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::tools {

struct data_options {
    std::string file{};
    analysis::output_format format = analysis::output_format::text;
    std::string sort_by{};
    std::int64_t limit = -1;
    analysis::time_unit unit = analysis::time_unit::automatic;
};

/// FILE, --format and --json.
void add_file_options(CLI::App& command, data_options& options);

/// Those, and --sort-by, --limit and --time-unit.
void add_data_options(CLI::App& command, data_options& options, const std::string& sort_keys);

/// Loads the trace and reports its warnings. Empty where it failed, which has been reported then.
[[nodiscard]] std::optional<analysis::trace> load_trace(const std::string& file);

/// The events in torch's words of a native trace or of any other that load_events knows. Reports as load_trace.
[[nodiscard]] std::optional<analysis::event_list>
load_event_list(const std::string& file, const analysis::load_options& how = {});

/// A native trace as it is, any other as its events. Reports as load_trace.
[[nodiscard]] std::optional<analysis::trace_or_events>
load_any_trace(const std::string& file, const analysis::load_options& how = {});

/// Prints a listing as the options ask. `notes` stand under the text, not in the data. Gives the
/// exit code.
int print_listing(analysis::listing list, const data_options& options, std::string_view notes);

/// Reports wrong usage that shows only once the work has begun, and gives the exit code.
int usage_failure(std::string_view command, std::string_view message);

}  // namespace coroscope::tools
