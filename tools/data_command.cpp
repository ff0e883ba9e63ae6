// SPDX-License-Identifier: Apache-2.0
#include "data_command.hpp"

#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/spawn_places.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "cut_file.hpp"
#include "next_commands.hpp"
#include "output.hpp"
#include "subcommand.hpp"
#include "wrapped_text.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;
using analysis::time_unit;

constexpr std::size_t warnings_shown = 10;
constexpr std::size_t longest_text = std::numeric_limits<std::int32_t>::max();  // of --wide

const std::map<std::string, output_format> formats{
    {"text", output_format::text}, {"csv", output_format::csv}, {"json", output_format::json}};

const std::map<std::string, time_unit> units{{"auto", time_unit::automatic},
                                             {"s", time_unit::seconds},
                                             {"ms", time_unit::milliseconds},
                                             {"us", time_unit::microseconds}};

/// An option whose value is one of the names of a map.
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const std::map<std::string, Value>& choices, const std::string& help) {
    std::vector<std::string> names;
    for (const auto& [key, unused] : choices) names.push_back(key);
    const auto choose = [&value, &choices](const std::string& text) { value = choices.at(text); };
    return command.add_option_function<std::string>(name, choose, help)
        ->check(CLI::IsMember(names))
        ->type_name("");
}

void report_warnings(const std::string& file, const analysis::trace_health& health) {
    for (std::size_t at = 0; at < health.warnings.size(); ++at) {
        if (at == warnings_shown) {
            report(fmt::format("{}: warning: and {} more like these", file,
                               health.warnings.size() - at));
            return;
        }
        report(fmt::format("{}: warning: {}", file, health.warnings[at]));
    }
}

template <class Loaded>
const analysis::trace_health& health_of(const Loaded& loaded) {
    return loaded.health;
}

const analysis::trace_health& health_of(const analysis::trace_averages& averages) {
    return averages.loaded.health;
}

template <class... Loaded>
const analysis::trace_health& health_of(const std::variant<Loaded...>& loaded) {
    return std::visit([](const auto& each) -> const auto& { return health_of(each); }, loaded);
}

/// Returns the result of `load`. Reports its warnings, or its error.
template <class Load>
auto loaded_from(const std::string& file, const Load& load)
    -> std::optional<std::decay_t<decltype(*load())>> {
    const progress reading("reading " + file);
    const cut_file_watch watch(file);
    auto loaded = load();
    if (!loaded) {
        report(file, loaded.error());
        return std::nullopt;
    }
    report_warnings(file, health_of(*loaded));
    return std::move(loaded).value();
}

/// Checks the text of a task's number before CLI11 converts it. CLI11 would accept "-1" and numbers
/// that are too large. Returns an error message, or an empty string.
std::string task_number(std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end ? std::string() : "not a task's number: " + text;
}

}  // namespace

void add_file_options(CLI::App& command, data_options& options) {
    command.add_option("FILE", options.file, "The trace")->required()->type_name("");
    add_format_options(command, options);
    add_part_options(command, options.part, options.chosen);
    add_jobs_option(command, options.jobs);
}

void add_jobs_option(CLI::App& command, unsigned& jobs) {
    constexpr unsigned most = 1024;
    command
        .add_option("--jobs", jobs,
                    "Maximum number of threads that read the trace; unless given, one for each "
                    "processor")
        ->type_name("N")
        ->check(CLI::Range(1U, most));
}

CLI::Option* add_task_option(CLI::App& command, std::optional<std::uint64_t>& task,
                             const std::string& help) {
    return command.add_option("--task", task, help)
        ->type_name("ID")
        ->check(CLI::Validator(task_number, ""));
}

std::optional<std::uint32_t> find_task_or_report(const std::string& file,
                                                 const analysis::trace& loaded, std::uint64_t id) {
    const auto found = analysis::find_task(loaded, id);
    if (!found)
        report(file,
               {fmt::format("there is no task {}; coroscope tasks --tree lists the tasks", id)});
    return found;
}

void add_format_options(CLI::App& command, data_options& options) {
    auto* format =
        add_choice(command, "--format", options.format, formats, "The format of the output");
    command
        .add_flag_callback(
            "--json", [&options] { options.format = output_format::json; },
            "The same as --format json")
        ->excludes(format);
    command.add_flag(
        "--csv-safe", options.csv_safe,
        "In CSV, write an apostrophe before each text that a spreadsheet would take for a formula");
    add_width_options(command, options);
}

void add_width_options(CLI::App& command, data_options& options) {
    options.command = command.get_name();
    auto* wide = command.add_flag("--wide", options.wide,
                                  "In text, show every column and every name in full length");
    command
        .add_option("--width", options.width,
                    "Fit the text into lines of this many characters (default: the\n"
                    "terminal's; no limit if the output is not a terminal)")
        ->type_name("COLUMNS")
        ->check(CLI::Range(least_width, std::size_t{100'000}))
        ->excludes(wide);
}

std::size_t line_width(const data_options& options) {
    if (options.wide) return 0;
    return options.width != 0 ? options.width : terminal_width();
}

analysis::listing_options listing_form(const data_options& options) {
    analysis::listing_options form{.sort_by = options.sort_by,
                                   .row_limit = options.limit,
                                   .unit = options.unit,
                                   .guard_formulas = options.csv_safe,
                                   .line_width = line_width(options)};
    if (options.wide) form.max_text_column_width = form.max_source_column_width = longest_text;
    return form;
}

int print_view(std::string_view text, const data_options& options) {
    const std::size_t width = line_width(options);
    if (width == 0) return print_text(text, width);
    const std::string next = next_commands(options.command, options.file);
    return print_text(next.empty() ? std::string(text) : fmt::format("{}\n{}", text, next), width);
}

void add_data_options(CLI::App& command, data_options& options, const std::string& sort_keys) {
    add_file_options(command, options);
    command
        .add_option("--sort-by", options.sort_by,
                    "Sort with the largest first, by one of\n" + sort_keys)
        ->type_name("KEY");
    command.add_option("--limit", options.limit, "Maximum number of rows; -1 for all")
        ->type_name("ROWS")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 62, "ROWS"));
    add_choice(command, "--time-unit", options.unit, units, "The unit of times in text");
}

data_options with_limit(data_options options, std::int64_t otherwise) {
    if (options.limit == no_limit_given) options.limit = otherwise;
    return options;
}

void add_reading_options(CLI::App& command, analysis::load_options& how) {
    command.add_flag("--accept-nan", how.accept_nan,
                     "Read NaN and Infinity, which JSON does not have");
    command.add_flag("--strict", how.strict,
                     "Refuse a file with an odd event or row instead of leaving it out");
}

std::optional<analysis::trace> load_trace(const std::string& file,
                                          const analysis::trace_load_options& how) {
    auto loaded = loaded_from(file, [&] { return analysis::load(file, how); });
    if (loaded) analysis::name_spawn_places(*loaded);
    return loaded;
}

std::optional<analysis::trace> load_trace(const data_options& asked,
                                          analysis::scopes_to_load scopes) {
    if (asked.part.any()) scopes = analysis::scopes_to_load::all;
    return select_part_or_report(asked.file,
                                 load_trace(asked.file, {.scopes = scopes, .jobs = asked.jobs}),
                                 asked.part, asked.chosen);
}

std::optional<analysis::trace> select_part_or_report(const std::string& file,
                                                     std::optional<analysis::trace> whole,
                                                     const analysis::part_choice& part,
                                                     part_of chosen) {
    if (!whole || !part.any()) return whole;
    auto selected = part_of_trace(*std::move(whole), part, chosen);
    if (selected) return *std::move(selected);
    report(file, selected.error());
    return std::nullopt;
}

std::optional<analysis::event_list> load_event_list(const std::string& file,
                                                    const analysis::load_options& how) {
    return loaded_from(file, [&] { return analysis::load_events(file, how); });
}

std::optional<analysis::event_list> load_event_list(const std::string& file,
                                                    const analysis::load_options& how,
                                                    const analysis::part_choice& part) {
    if (!part.any()) return load_event_list(file, how);
    auto loaded = load_any_trace(file, how);
    if (!loaded) return std::nullopt;
    auto* const native = std::get_if<analysis::trace>(&*loaded);
    if (native == nullptr) {
        static_cast<void>(report_undivided(file, part));
        return std::nullopt;
    }
    const auto selected = select_part_or_report(file, std::move(*native), part);
    if (!selected) return std::nullopt;
    return analysis::events_of(*selected);
}

bool report_undivided(const std::string& file, const analysis::part_choice& part) {
    if (part.any()) report(file, {"is not a native trace, and --from, --to and --where need one"});
    return part.any();
}

std::optional<analysis::trace_or_events> load_any_trace(const std::string& file,
                                                        const analysis::load_options& how) {
    auto loaded = loaded_from(file, [&] { return analysis::load_trace_or_events(file, how); });
    if (loaded)
        if (auto* const native = std::get_if<analysis::trace>(&*loaded))
            analysis::name_spawn_places(*native);
    return loaded;
}

std::optional<std::variant<analysis::trace_averages, analysis::event_list>>
load_averages(const std::string& file, const analysis::averages_options& options) {
    auto loaded = loaded_from(file, [&] { return analysis::load_averages(file, options); });
    if (loaded)
        if (auto* const native = std::get_if<analysis::trace_averages>(&*loaded))
            analysis::name_spawn_places(native->loaded);
    return loaded;
}

int print_listing(analysis::listing list, const data_options& options, std::string_view notes,
                  std::string_view nothing) {
    const analysis::listing_options how = listing_form(options);
    const std::size_t rows = list.rows.size();
    const auto shown = analysis::arranged(std::move(list), how);
    if (!shown) return usage_failure("--sort-by", shown.error().message);
    switch (options.format) {
        case output_format::csv: return print(analysis::to_csv(*shown, how));
        case output_format::json: return print(analysis::to_json(*shown));
        case output_format::text: break;
    }
    if (rows == 0 && !nothing.empty())
        return print_view(fmt::format("{}\n{}", nothing, notes), options);
    std::string text = analysis::to_text(*shown, how);
    if (shown->rows.size() < rows) {
        text += fmt::format("{} of {} rows\n", shown->rows.size(), rows);
    }
    return print_view(text.append(notes), options);
}

int usage_failure(std::string_view command, std::string_view message) {
    report(fmt::format("{}: {}", command, message));
    return exit_usage;
}

}  // namespace coroscope::tools
