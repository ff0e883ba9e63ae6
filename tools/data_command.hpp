// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common parts of commands that read a trace and print data: options, loading, warnings.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <CLI/CLI.hpp>
#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/load_averages.hpp>
#include <coroscope/analysis/load_events.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/select_part.hpp>

#include "part_options.hpp"

namespace coroscope::tools {

/// A value of data_options::limit that the option does not accept, for commands whose text has a
/// limit of its own.
inline constexpr std::int64_t no_limit_given = -2;

struct data_options {
    std::string file{};
    analysis::output_format format = analysis::output_format::text;
    std::string sort_by{};
    std::int64_t limit = -1;
    analysis::time_unit unit = analysis::time_unit::automatic;
    bool csv_safe = false;
    std::string command{};  ///< the word on the command line
    bool wide = false;
    std::size_t width = 0;  ///< of a line of text; 0: that of the terminal
    unsigned jobs = 0;      ///< 0: one for each processor
    analysis::part_choice part{};
    part_of chosen = part_of::work;
};

/// Adds --jobs.
void add_jobs_option(CLI::App& command, unsigned& jobs);

/// Adds the options --format, --json, --csv-safe, --wide and --width.
void add_format_options(CLI::App& command, data_options& options);

/// Adds --wide and --width.
void add_width_options(CLI::App& command, data_options& options);

/// Adds the options of add_format_options() and add_part_options(), FILE and --jobs.
void add_file_options(CLI::App& command, data_options& options);

/// Adds all of these and --sort-by, --limit and --time-unit.
void add_data_options(CLI::App& command, data_options& options, const std::string& sort_keys);

/// Returns the options with `otherwise` as the limit if none was given.
[[nodiscard]] data_options with_limit(data_options options, std::int64_t otherwise);

/// Returns the greatest length of a line of text; 0: no limit.
[[nodiscard]] std::size_t line_width(const data_options& options);

/// Returns the form of a listing that the options ask for.
[[nodiscard]] analysis::listing_options listing_form(const data_options& options);

/// Prints text for people, with lines of the length that the options ask for. If that is limited,
/// as on a terminal, the commands that lead on follow.
int print_view(std::string_view text, const data_options& options);

/// Adds --task ID.
CLI::Option* add_task_option(CLI::App& command, std::optional<std::uint64_t>& task,
                             const std::string& help);

/// --accept-nan and --strict, which are about traces of other profilers.
void add_reading_options(CLI::App& command, analysis::load_options& how);

/// Loads the trace and reports its warnings. On failure reports the error and returns nothing.
[[nodiscard]] std::optional<analysis::trace>
load_trace(const std::string& file, const analysis::trace_load_options& how = {});

/// The same, with the file, the number of threads and the part that the options ask for. Of a part,
/// all scopes are loaded.
[[nodiscard]] std::optional<analysis::trace>
load_trace(const data_options& asked,
           analysis::scopes_to_load scopes = analysis::scopes_to_load::all);

/// Selects the part of a trace. On failure reports the error and returns nothing.
[[nodiscard]] std::optional<analysis::trace>
select_part_or_report(const std::string& file, std::optional<analysis::trace> whole,
                      const analysis::part_choice& part, part_of chosen = part_of::work);

/// Returns the task with that number, an index into trace::tasks. If there is none, reports that.
[[nodiscard]] std::optional<std::uint32_t>
find_task_or_report(const std::string& file, const analysis::trace& loaded, std::uint64_t id);

/// The events in torch's words of a native trace or of any other that load_events knows. Reports as
/// load_trace.
[[nodiscard]] std::optional<analysis::event_list>
load_event_list(const std::string& file, const analysis::load_options& how = {});

/// The same for a part of a native trace; reports that other files cannot be divided.
[[nodiscard]] std::optional<analysis::event_list>
load_event_list(const std::string& file, const analysis::load_options& how,
                const analysis::part_choice& part);

/// Reports that a file is no native trace if a part of it was asked for, and returns whether.
[[nodiscard]] bool report_undivided(const std::string& file, const analysis::part_choice& part);

/// Loads a native trace as a trace, and any other as an event list. Reports like load_trace().
[[nodiscard]] std::optional<analysis::trace_or_events>
load_any_trace(const std::string& file, const analysis::load_options& how = {});

/// Loads the averages of a native trace, and any other as an event list. Reports like load_trace().
[[nodiscard]] std::optional<std::variant<analysis::trace_averages, analysis::event_list>>
load_averages(const std::string& file, const analysis::averages_options& options);

/// Prints a listing in the form that the options ask for, and returns the exit code. Text has
/// `notes` below the listing and, if the listing has no rows, `nothing` in place of the heading.
/// CSV and JSON have neither.
int print_listing(analysis::listing list, const data_options& options, std::string_view notes,
                  std::string_view nothing = {});

/// Reports wrong usage that is found only after the work has begun, and returns the exit code.
int usage_failure(std::string_view command, std::string_view message);

}  // namespace coroscope::tools
