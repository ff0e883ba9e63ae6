// SPDX-License-Identifier: Apache-2.0
#include "export.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/redact.hpp>
#include <coroscope/analysis/table_exports.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "destination.hpp"
#include "export_formats.hpp"
#include "export_targets.hpp"
#include "folding.hpp"
#include "output.hpp"
#include "redacting.hpp"

namespace coroscope::tools {
namespace {

struct export_command {
    export_request what;
    std::string to = std::string(export_formats().front().name);
    std::string output;
    std::string post;
    bool torch = false;
    analysis::redaction redact;
    analysis::load_options how{.keep_arguments = true};
    fold_choice fold;
    analysis::part_choice part;
};

/// Returns an error message if `name` is not a stack metric, else an empty string.
std::string check_metric(const std::string& name) {
    const auto known = analysis::export_stacks(analysis::event_list{}, name,
                                               [](std::string_view) { return true; });
    return known ? std::string() : known.error().message;
}

/// The same for a time of folded stacks.
std::string check_folded_time(const std::string& name) {
    analysis::folded_time time{};
    if (analysis::find_folded_time(name, time)) return {};
    return fmt::format("no time \"{}\"; one of {}", name, analysis::folded_times());
}

int export_events(const export_command& asked, const export_format& to,
                  const analysis::event_list& events) {
    return write_to_file(asked.what.file, asked.output, [&](const analysis::byte_sink& sink) {
        return to.of_events(asked.what, events, sink);
    });
}

int export_trace(const export_command& asked, const export_format& to,
                 const analysis::trace& loaded) {
    if (!asked.post.empty()) return write_to_server(asked.what, to, loaded, asked.post);
    if (to.to_path != nullptr) return write_to_path(asked.what, to, loaded, asked.output);
    if (to.has_tables && asked.what.table.empty())
        return write_to_folder(asked.what, to, loaded, asked.output);
    return write_to_file(asked.what.file, asked.output, [&](const analysis::byte_sink& sink) {
        return to.of_trace(asked.what, loaded, sink);
    });
}

int not_from_events(const export_command& asked, const export_format& to) {
    std::string advice;
    if (!to.program.empty())
        advice = fmt::format("; use --to chrome, which {} opens, too", to.program);
    report(fmt::format("{}: is not a native trace, and only native traces are written as {}{}",
                       asked.what.file, to.name, advice));
    return exit_failure;
}

int no_form_of_torch(const export_format& to) {
    return usage_failure("--torch",
                         fmt::format("cannot be combined with --to {}; use --to chrome", to.name));
}

bool is_of_traces(const export_format& to) {
    return to.of_trace != nullptr || to.to_path != nullptr;
}

/// Reports options that exclude each other, and returns the exit code; 0 if there are none.
int check_target(const export_command& asked, const export_format& to) {
    if (asked.output.empty() == asked.post.empty())
        return usage_failure("--output", "give a file by -o, or a server by --post");
    if (!asked.post.empty() && to.posts.write == nullptr)
        return usage_failure("--post", fmt::format("cannot be combined with --to {}", to.name));
    if (!asked.what.table.empty() && !to.has_tables)
        return usage_failure("--table", fmt::format("cannot be combined with --to {}", to.name));
    if (asked.output == "-" && to.to_path != nullptr)
        return usage_failure("--output", fmt::format("--to {} needs a file", to.name));
    if (asked.output == "-" && to.has_tables && asked.what.table.empty())
        return usage_failure("--output", "standard output holds one table: name it by --table");
    if (!asked.output.empty() && is_same_file(asked.what.file, asked.output))
        return usage_failure("--output", "would overwrite the trace");
    return exit_success;
}

std::optional<analysis::trace_or_events> load_part(const export_command& asked) {
    auto loaded = load_any_trace(asked.what.file, asked.how);
    if (!loaded) return std::nullopt;
    auto* const native = std::get_if<analysis::trace>(&*loaded);
    if (native == nullptr) return loaded;
    auto part = select_part_or_report(asked.what.file, std::move(*native), asked.part);
    if (!part) return std::nullopt;
    return analysis::trace_or_events(*std::move(part));
}

int run_export(const export_command& asked) {
    const export_format& to = export_format_of(asked.to);
    if (const int code = check_target(asked, to); code != exit_success) return code;
    if (asked.torch && to.of_events == nullptr) return no_form_of_torch(to);
    if (asked.torch || !is_of_traces(to)) {
        auto events = load_event_list(asked.what.file, asked.how, asked.part);
        if (!events) return exit_failure;
        redact_or_warn(asked.what.file, *events, asked.redact);
        return export_events(asked, to, *events);
    }
    auto loaded = folded(load_part(asked), asked.fold);
    if (!loaded) return exit_failure;
    if (auto* events = std::get_if<analysis::event_list>(&*loaded)) {
        if (report_undivided(asked.what.file, asked.part)) return exit_failure;
        if (to.of_events == nullptr) return not_from_events(asked, to);
        redact_or_warn(asked.what.file, *events, asked.redact);
        return export_events(asked, to, *events);
    }
    auto& native = std::get<analysis::trace>(*loaded);
    redact_or_warn(asked.what.file, native, asked.redact);
    return export_trace(asked, to, native);
}

/// "chrome: …", a line per format.
std::string format_help() {
    std::string text;
    for (const export_format& each : export_formats())
        text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", each.name, each.help);
    return text;
}

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const export_format& each : export_formats()) names.emplace_back(each.name);
    return names;
}

std::vector<std::string> table_names() {
    std::vector<std::string> names;
    for (const std::string_view each : analysis::data_table_names()) names.emplace_back(each);
    return names;
}

}  // namespace

void add_export(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<export_command>();
    CLI::App* command = root.add_subcommand("export", "Write the trace for another program");
    command->add_option("FILE", asked->what.file, "The trace")->required()->type_name("");
    command->add_option("--to", asked->to, format_help())
        ->check(CLI::IsMember(format_names()))
        ->type_name("FORMAT");
    command
        ->add_option("--metric", asked->what.metric,
                     "The metric of stacks: " + std::string(analysis::stack_metrics()))
        ->check(CLI::Validator(check_metric, ""))
        ->type_name("NAME");
    command
        ->add_option_function<std::string>(
            "--of",
            [asked](const std::string& name) {
                static_cast<void>(analysis::find_folded_time(name, asked->what.of));
            },
            "The time of folded: " + std::string(analysis::folded_times()))
        ->check(CLI::Validator(check_folded_time, ""))
        ->type_name("TIME");
    command->add_flag("--torch", asked->torch,
                      "Write a native trace in Kineto's form of Chrome's JSON");
    command->add_option("-o,--output", asked->output, "The file to write; - for standard output")
        ->type_name("PATH");
    command
        ->add_option("--post", asked->post,
                     "Send otlp to a collector instead, as http://localhost:4318")
        ->type_name("URL");
    command->add_option("--table", asked->what.table, "The table of csv and ndjson")
        ->check(CLI::IsMember(table_names()))
        ->type_name("NAME");
    command->add_flag("--csv-safe", asked->what.csv_safe,
                      "csv: put an apostrophe before texts that a spreadsheet takes for formulas");
    add_redact_option(*command, asked->redact);
    add_part_options(*command, asked->part);
    add_reading_options(*command, asked->how);
    add_jobs_option(*command, asked->how.jobs);
    add_fold_option(*command, asked->fold);
    command->footer("Example:\n  coroscope export trace.cst --to chrome -o trace.json");
    command->callback([asked, &line] { line.chosen = [asked] { return run_export(*asked); }; });
}

}  // namespace coroscope::tools
