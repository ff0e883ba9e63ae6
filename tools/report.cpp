// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <coroscope/analysis/redact.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "destination.hpp"
#include "export_targets.hpp"
#include "output.hpp"
#include "redacting.hpp"

namespace coroscope::tools {
namespace {

struct report_command {
    std::string file;
    std::string output;
    std::string against;
    analysis::report_options how;
    analysis::redaction redact;
    bool no_sources = false;
    unsigned jobs = 0;
};

/// Reads "FROM=TO". Returns an error message, else an empty string.
std::string read_source_folder(const std::string& text, analysis::source_folder& into) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at + 1 == text.size())
        return fmt::format("\"{}\" is not FROM=TO, such as /build/src=src", text);
    into = {text.substr(0, at), text.substr(at + 1)};
    std::error_code failed;
    if (!std::filesystem::is_directory(into.to, failed))
        return fmt::format("\"{}\" is not a folder", into.to);
    return {};
}

std::string check_source_folder(const std::string& text) {
    analysis::source_folder ignored;
    return read_source_folder(text, ignored);
}

std::string check_editor(const std::string& name) {
    const auto link = analysis::editor_link(name);
    return link ? std::string() : link.error().message;
}

std::vector<std::string> names_of(const analysis::redaction& redact) {
    std::vector<std::string> names;
    for (const std::string& key : redact.attributes) names.push_back("attr:" + key);
    if (redact.arguments) names.emplace_back("arguments");
    return names;
}

std::optional<analysis::trace> load_to_report(const report_command& asked,
                                              const std::string& file) {
    auto loaded = load_trace(file, {.jobs = asked.jobs});
    if (loaded) redact_or_warn(file, *loaded, asked.redact);
    return loaded;
}

int run_report(const report_command& asked) {
    if (is_same_file(asked.file, asked.output) ||
        (!asked.against.empty() && is_same_file(asked.against, asked.output)))
        return usage_failure("--output", "would overwrite the trace");
    const auto loaded = load_to_report(asked, asked.file);
    if (!loaded) return exit_failure;
    analysis::report_options how = asked.how;
    how.trace_path = asked.file;
    how.redacted = names_of(asked.redact);
    if (!asked.no_sources) how.working_folder = working_folder();
    std::optional<analysis::trace> before;
    if (!asked.against.empty()) {
        before = load_to_report(asked, asked.against);
        if (!before) return exit_failure;
        how.against = &*before;
        how.against_path = asked.against;
    }
    return write_report_to(asked.output, *loaded, how);
}

void add_source_options(CLI::App& command, report_command& asked) {
    CLI::Option* folders =
        command
            .add_option_function<std::vector<std::string>>(
                "--source-path",
                [&asked](const std::vector<std::string>& texts) {
                    for (const std::string& text : texts)
                        static_cast<void>(
                            read_source_folder(text, asked.how.source_folders.emplace_back()));
                },
                "Quote sources that were recorded below FROM from the folder TO. Without it, those "
                "below the working folder are quoted. May be repeated")
            ->type_name("FROM=TO")
            ->allow_extra_args(false)
            ->check(CLI::Validator(check_source_folder, ""));
    command.add_flag("--no-sources", asked.no_sources, "Quote no sources")->excludes(folders);
    command
        .add_option_function<std::string>(
            "--editor",
            [&asked](const std::string& name) {
                if (const auto link = analysis::editor_link(name)) asked.how.editor_link = *link;
            },
            "Link places to this editor: " + analysis::editor_names() +
                ";\nor a link such as myeditor://{file}:{line}")
        ->type_name("NAME")
        ->check(CLI::Validator(check_editor, ""));
}

}  // namespace

std::string working_folder() {
    std::error_code failed;
    const std::filesystem::path folder = std::filesystem::current_path(failed);
    return failed ? std::string() : folder.string();
}

int write_report_to(const std::string& output, const analysis::trace& loaded,
                    const analysis::report_options& options) {
    return write_to_file(options.trace_path, output, [&](const analysis::byte_sink& sink) {
        return analysis::write_report(loaded, sink, options);
    });
}

void add_report(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<report_command>();
    CLI::App* command = root.add_subcommand(
        "report", "Write one HTML file that shows what is slow and why, in any browser, offline");
    command->add_option("FILE", asked->file, "The trace")->required()->type_name("");
    command->add_option("-o,--output", asked->output, "The file to write; - for standard output")
        ->required()
        ->type_name("PATH");
    command
        ->add_option("--against", asked->against,
                     "An earlier trace: compare the rows, and the flame graphs")
        ->type_name("FILE");
    command
        ->add_option("--events", asked->how.most_events,
                     "The greatest number of scopes in the timeline; of a larger trace it shows "
                     "the slowest requests, and the sums of everything")
        ->type_name("N")
        ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{100'000'000}))
        ->capture_default_str();
    add_source_options(*command, *asked);
    add_redact_option(*command, asked->redact);
    add_jobs_option(*command, asked->jobs);
    command->footer("Example:\n  coroscope report trace.cst -o report.html\n  coroscope report "
                    "new.cst --against old.cst -o report.html");
    command->callback([asked, &line] { line.chosen = [asked] { return run_report(*asked); }; });
}

}  // namespace coroscope::tools
