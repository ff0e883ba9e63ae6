// SPDX-License-Identifier: Apache-2.0
#include "diff.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include <coroscope/analysis/comparison.hpp>
#include <coroscope/analysis/comparison_views.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"

namespace coroscope::tools {
namespace {

constexpr std::string_view second_side = "--against";
constexpr int exit_regression = 3;  // as --fail-on of check

struct diff_command {
    data_options data;
    std::vector<std::string> files{};
    std::vector<std::string> after{};
    std::string fail_on{};
    analysis::comparison_options shown{};
    bool markdown = false;
};

/// Returns the least change that is a regression, as a share: "regression=5%" is 0.05.
std::optional<double> regression_in(std::string_view text) {
    constexpr std::string_view name = "regression";
    if (!text.starts_with(name)) return std::nullopt;
    text.remove_prefix(name.size());
    if (text.empty()) return 0;
    if (!text.starts_with('=')) return std::nullopt;
    text.remove_prefix(1);
    if (text.ends_with('%')) text.remove_suffix(1);
    double percent = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
    if (error != std::errc() || last != text.data() + text.size() || !(percent >= 0))
        return std::nullopt;
    return percent / 100;
}

/// Returns an error message, or an empty string.
std::string check_fail_on(const std::string& text) {
    return regression_in(text) ? std::string() : "not regression or regression=5%: " + text;
}

/// Reduces one trace after the other, so that one is in memory at a time. Reports errors.
std::optional<std::vector<analysis::run_summary>>
summaries_of(const std::vector<std::string>& files) {
    std::vector<analysis::run_summary> runs;
    for (const std::string& file : files) {
        const auto loaded = load_trace(file);
        if (!loaded) return std::nullopt;
        runs.push_back(analysis::summarize_run(*loaded, file));
    }
    return runs;
}

int print_comparison(const analysis::comparison& found, const diff_command& asked) {
    if (asked.markdown) return print(analysis::comparison_markdown(found, asked.shown));
    switch (asked.data.format) {
        case analysis::output_format::csv:
            return print_listing(analysis::list_comparison(found), asked.data, {});
        case analysis::output_format::json: return print(analysis::comparison_json(found));
        case analysis::output_format::text: break;
    }
    return print_text(analysis::comparison_text(found, asked.shown), line_width(asked.data));
}

/// Returns the exit code of --fail-on.
int judge_regressions(const analysis::comparison& found, double least) {
    const auto slower =
        std::ranges::count_if(found.rows, [least](const analysis::comparison_row& each) {
            return each.verdict == analysis::comparison_verdict::slower &&
                   each.change.value_or(0) >= least;
        });
    if (slower == 0) return exit_success;
    report(fmt::format("{} {} slower by at least {:g} %", slower,
                       slower == 1 ? "row is" : "rows are", 100 * least));
    return exit_regression;
}

int run_diff(diff_command asked) {
    if (asked.after.empty() && asked.files.size() != 2)
        return usage_failure("diff", "give one trace for each side, or several with -- between "
                                     "the sides; see coroscope diff --help");
    if (asked.after.empty()) {
        asked.after.push_back(asked.files.back());
        asked.files.pop_back();
    }
    const auto before = summaries_of(asked.files);
    const auto after = before ? summaries_of(asked.after) : std::nullopt;
    if (!after) return exit_failure;
    const analysis::comparison found = analysis::compare_runs(*before, *after);
    const int printed = print_comparison(found, asked);
    if (printed != exit_success || asked.fail_on.empty()) return printed;
    return judge_regressions(found, *regression_in(asked.fail_on));
}

void add_diff_options(CLI::App& command, diff_command& asked) {
    command.add_option("FILES", asked.files, "The traces before the change")
        ->required()
        ->type_name("");
    command
        .add_option(std::string(second_side), asked.after,
                    "The traces after the change; \"--\" is short for it")
        ->type_name("FILES");
    add_format_options(command, asked.data);
    command.add_flag("--markdown", asked.markdown, "Print Markdown, for a pull request");
    command.add_flag("--all", asked.shown.all,
                     "In text and Markdown, show also the rows that are the same, and all unclear "
                     "ones");
    command
        .add_option("--limit", asked.shown.row_limit,
                    "In text and Markdown, the maximum number of rows; -1 for all")
        ->type_name("ROWS")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 62, "ROWS"));
    command
        .add_option("--fail-on", asked.fail_on,
                    "Exit with code 3 if a row is slower, or slower by at least that share")
        ->type_name("regression[=5%]")
        ->check(CLI::Validator(check_fail_on, ""));
}

}  // namespace

std::string name_second_side(std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front() != "diff") return {};
    if (std::ranges::count(arguments, "--") > 1) return "-- is given twice";
    std::ranges::replace(arguments, std::string("--"), std::string(second_side));
    return {};
}

void add_diff(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<diff_command>();
    CLI::App* command = root.add_subcommand(
        "diff", "What became slower between the runs of two builds, and how certain that is");
    add_diff_options(*command, *asked);
    command->footer(
        "Example:\n  coroscope diff old.cst new.cst\n  coroscope diff old1.cst old2.cst "
        "old3.cst -- new1.cst new2.cst new3.cst --fail-on regression=5%");
    command->callback([asked, &line] { line.chosen = [asked] { return run_diff(*asked); }; });
}

}  // namespace coroscope::tools
