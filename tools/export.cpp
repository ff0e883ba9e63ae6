// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/chrome.hpp>

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/perfetto.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "destination.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

struct export_command {
    std::string file;
    std::string to = "chrome";
    std::string output;
    std::string metric = "self_cpu_time_total";
    bool torch = false;
};

/// Gives the exit code.
int write_out(const export_command& asked,
              const std::function<analysis::written(const analysis::byte_sink&)>& write) {
    destination to(asked.output);
    const progress writing("writing " + to.name());
    const auto done = write([&to](std::string_view text) { return to.write(text); });
    if (to.error() != 0) return failed(to, to.error());
    if (!done) {
        report(asked.file, done.error());
        return exit_failure;
    }
    if (const int error = to.finish(); error != 0) return failed(to, error);
    return exit_success;
}

/// Why it is none of stacks; empty where it is one. An export of nothing tells.
std::string check_metric(const std::string& name) {
    const auto known = analysis::export_stacks(analysis::event_list{}, name,
                                               [](std::string_view) { return true; });
    return known ? std::string() : known.error().message;
}

int export_trace(const export_command& asked, const analysis::trace& loaded) {
    return write_out(asked, [&](const analysis::byte_sink& sink) -> analysis::written {
        const auto totals = asked.to == "perfetto" ? analysis::export_perfetto(loaded, sink)
                                                   : analysis::export_chrome(loaded, sink);
        if (!totals) return totals.error();
        if (totals->left_out != 0) {
            report(
                fmt::format("{}: warning: {} spans overlap too much to be shown and were left out",
                            asked.file, totals->left_out));
        }
        return totals->scopes;
    });
}

analysis::written export_stacks(const export_command& asked, const analysis::event_list& events,
                                const analysis::byte_sink& sink) {
    auto lines = analysis::export_stacks(events, asked.metric, sink);
    if (lines && *lines == 0)
        report(fmt::format("{}: warning: no event has a stack and a microsecond of {}", asked.file,
                           asked.metric));
    return lines;
}

int export_events(const export_command& asked, const analysis::event_list& events) {
    return write_out(asked, [&](const analysis::byte_sink& sink) {
        if (asked.to == "stacks") return export_stacks(asked, events, sink);
        if (asked.to == "memory-timeline") return analysis::export_memory_timeline(events, sink);
        if (asked.to == "execution-graph") return analysis::export_execution_graph(events, sink);
        return analysis::export_chrome_trace(events, sink);
    });
}

int not_for_perfetto(const export_command& asked) {
    report(fmt::format(
        "{}: is no native trace, and only these are written as perfetto; use --to chrome, "
        "which Perfetto opens, too",
        asked.file));
    return exit_failure;
}

int run_export(const export_command& asked) {
    if (is_same_file(asked.file, asked.output))
        return usage_failure("--output", "would overwrite the trace");
    const bool is_picture = asked.to == "chrome" || asked.to == "perfetto";
    if (asked.torch && asked.to == "perfetto")
        return usage_failure("--torch", "has no form of Perfetto's; use --to chrome");
    if (!is_picture || asked.torch) {
        const auto events = load_event_list(asked.file);
        return events ? export_events(asked, *events) : exit_failure;
    }
    const auto loaded = load_any_trace(asked.file);
    if (!loaded) return exit_failure;
    if (const auto* events = std::get_if<analysis::event_list>(&*loaded)) {
        if (asked.to == "perfetto") return not_for_perfetto(asked);
        return export_events(asked, *events);
    }
    return export_trace(asked, std::get<analysis::trace>(*loaded));
}

}  // namespace

void add_export(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<export_command>();
    CLI::App* command = root.add_subcommand("export", "Write the trace for another program");
    command->add_option("FILE", asked->file, "The trace")->required()->type_name("");
    command
        ->add_option("--to", asked->to,
                     "chrome: Perfetto, DevTools and others open it; perfetto: a native trace in\n"
                     "Perfetto's own format, a third as large;\n"
                     "stacks: for flame graphs; memory-timeline, execution-graph: torch's")
        ->check(
            CLI::IsMember({"chrome", "perfetto", "stacks", "memory-timeline", "execution-graph"}))
        ->type_name("FORMAT");
    command
        ->add_option("--metric", asked->metric,
                     "Of stacks: " + std::string(analysis::stack_metrics()))
        ->check(CLI::Validator(check_metric, ""))
        ->type_name("NAME");
    command->add_flag("--torch", asked->torch, "A native trace in Kineto's form of Chrome's JSON");
    command->add_option("-o,--output", asked->output, "Where to; - for standard output")
        ->required()
        ->type_name("PATH");
    command->footer("Example:\n  coroscope export trace.cst --to chrome -o trace.json");
    command->callback([asked, &line] { line.chosen = [asked] { return run_export(*asked); }; });
}

}  // namespace coroscope::tools
