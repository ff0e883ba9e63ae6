// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <coroscope/analysis/findings.hpp>
#include <coroscope/analysis/findings_views.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"

namespace coroscope::tools {
namespace {

// The exit code of --fail-on.
constexpr int exit_findings = 3;

struct check_command {
    data_options data{.chosen = part_of::requests};
    bool json = false;
    bool sarif = false;
    std::string fail_on{};
    std::string explain{};
};

int explain_rule(const std::string& id) {
    if (const analysis::finding_rule* const rule = analysis::find_rule(id))
        return print_text(analysis::rule_text(*rule));
    std::string known;
    for (const analysis::finding_rule& each : analysis::finding_rules())
        known += (known.empty() ? "" : ", ") + std::string(each.id);
    return usage_failure(
        "check", fmt::format("--explain: no rule {}; the rules are {}", one_line(id), known));
}

int print_findings(const check_command& asked, const analysis::trace& loaded,
                   const analysis::findings& found) {
    if (asked.json) return print(analysis::findings_json(loaded, found));
    if (asked.sarif) return print(analysis::findings_sarif(loaded, found, asked.data.file));
    return print_text(analysis::findings_text(loaded, found) + analysis::loss_notes(loaded),
                      line_width(asked.data));
}

// Returns whether a finding is at least as severe as --fail-on says.
bool fails(const check_command& asked, const analysis::findings& found) {
    if (asked.fail_on.empty()) return false;
    const auto least = asked.fail_on == "error" ? analysis::finding_severity::error
                                                : analysis::finding_severity::warning;
    return std::ranges::any_of(
        found.found, [&](const analysis::finding& each) { return each.severity >= least; });
}

int run_check(const check_command& asked) {
    if (!asked.explain.empty()) return explain_rule(asked.explain);
    if (asked.data.file.empty()) return usage_failure("check", "FILE is required");
    const auto loaded = load_trace(asked.data);
    if (!loaded) return exit_failure;
    std::optional<analysis::findings> found;
    {
        const progress shown("looking for causes");
        found = analysis::check(*loaded);
    }
    const int printed = print_findings(asked, *loaded, *found);
    if (printed != exit_success) return printed;
    return fails(asked, *found) ? exit_findings : exit_success;
}

}  // namespace

void add_check(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<check_command>();
    CLI::App* command = root.add_subcommand(
        "check", "Named causes of lost request time, with victims, price and advice");
    command->add_option("FILE", asked->data.file, "A trace");
    CLI::Option* json = command->add_flag("--json", asked->json, "As JSON");
    command->add_flag("--sarif", asked->sarif, "As SARIF 2.1.0, for code review tools")
        ->excludes(json);
    command
        ->add_option("--fail-on", asked->fail_on,
                     "Exit with code 3 if there is a finding of this severity, or a worse one")
        ->type_name("SEVERITY")
        ->check(CLI::IsMember({"error", "warning"}));
    command->add_option("--explain", asked->explain, "Explains a rule; needs no trace")
        ->type_name("RULE");
    add_width_options(*command, asked->data);
    add_part_options(*command, asked->data.part, asked->data.chosen);
    add_jobs_option(*command, asked->data.jobs);
    command->footer("Example:\n  coroscope check trace.cst\n  coroscope check trace.cst --sarif > "
                    "findings.sarif\n  coroscope check --explain blocking-call");
    command->callback([asked, &line] { line.chosen = [asked] { return run_check(*asked); }; });
}

}  // namespace coroscope::tools
