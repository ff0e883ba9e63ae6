// SPDX-License-Identifier: Apache-2.0
#include "data_command.hpp"

#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <fmt/format.h>

#include "cut_file.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;
using analysis::time_unit;

constexpr std::size_t warnings_shown = 10;

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

const analysis::trace_health& health_of(const analysis::trace_or_events& loaded) {
    return std::visit([](const auto& each) -> const auto& { return each.health; }, loaded);
}

/// What `load` gives. Its warnings, or why it gives nothing, are reported.
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

}  // namespace

void add_file_options(CLI::App& command, data_options& options) {
    command.add_option("FILE", options.file, "The trace")->required()->type_name("");
    auto* format = add_choice(command, "--format", options.format, formats, "How to print");
    command
        .add_flag_callback(
            "--json", [&options] { options.format = output_format::json; },
            "The same as --format json")
        ->excludes(format);
}

void add_data_options(CLI::App& command, data_options& options, const std::string& sort_keys) {
    add_file_options(command, options);
    command.add_option("--sort-by", options.sort_by, "Largest first, by one of\n" + sort_keys)
        ->type_name("KEY");
    command.add_option("--limit", options.limit, "Rows at most; -1 for all")
        ->type_name("ROWS")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 62, "ROWS"));
    add_choice(command, "--time-unit", options.unit, units, "Of times in text");
}

std::optional<analysis::trace> load_trace(const std::string& file) {
    return loaded_from(file, [&] { return analysis::load(file); });
}

std::optional<analysis::event_list> load_event_list(const std::string& file,
                                                    const analysis::load_options& how) {
    return loaded_from(file, [&] { return analysis::load_events(file, how); });
}

std::optional<analysis::trace_or_events> load_any_trace(const std::string& file,
                                                        const analysis::load_options& how) {
    return loaded_from(file, [&] { return analysis::load_trace_or_events(file, how); });
}

int print_listing(analysis::listing list, const data_options& options, std::string_view notes) {
    const analysis::listing_options how{
        .sort_by = options.sort_by, .row_limit = options.limit, .unit = options.unit};
    const std::size_t rows = list.rows.size();
    const auto shown = analysis::arranged(std::move(list), how);
    if (!shown) return usage_failure("--sort-by", shown.error().message);
    switch (options.format) {
        case output_format::csv: return print(analysis::to_csv(*shown));
        case output_format::json: return print(analysis::to_json(*shown));
        case output_format::text: break;
    }
    std::string text = analysis::to_text(*shown, how);
    if (shown->rows.size() < rows) {
        text += fmt::format("{} of {} rows\n", shown->rows.size(), rows);
    }
    return print_text(text.append(notes));
}

int usage_failure(std::string_view command, std::string_view message) {
    report(fmt::format("{}: {}", command, message));
    return exit_usage;
}

}  // namespace coroscope::tools
