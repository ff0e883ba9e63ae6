// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <coroscope/analysis/add_process.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "../lib/trace/environment_variables.hpp"
#include "../lib/trace/sampling_values.hpp"

#include "child_process.hpp"
#include "data_command.hpp"
#include "destination.hpp"
#include "folding.hpp"
#include "old_trace.hpp"
#include "output.hpp"
#include "preload.hpp"
#include "report.hpp"
#include "run_end.hpp"
#include "run_traces.hpp"

namespace coroscope::tools {
namespace {

using coroscope::trace::variable;
using coroscope::trace::variable_row;

constexpr std::uint64_t least_rotation = std::uint64_t{1} << 20;  // as the recorder's
constexpr std::uint64_t most_rotation = std::uint64_t{1} << 46;

struct run_command {
    std::string output = "coroscope.cst";
    std::string policy;
    std::uint64_t limit = 0;   ///< bytes; 0: the runtime's own
    std::uint64_t rotate = 0;  ///< bytes of each file; 0: one file
    std::uint32_t keep = 0;    ///< files; 0: the runtime's own number
    std::vector<std::string> features;
    std::string sample;  ///< empty: not given
    std::string budget;
    fold_choice fold;
    bool no_open_scopes = false;
    bool no_summary = false;
    std::string summary_to;  ///< empty: standard error
    std::string html{};      ///< the report to write; empty: none
    std::vector<std::string> program;
};

/// Returns the absolute path, because the program may change its folder before it records.
std::string absolute(const std::string& path) {
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::absolute(path, failed);
    return failed ? path : whole.string();
}

std::string assigned(variable which, const std::string& value) {
    return std::string(coroscope::trace::name_of(which)).append("=").append(value);
}

bool is_set(variable which) { return std::getenv(coroscope::trace::name_of(which)) != nullptr; }

/// Returns the words that --record accepts.
std::vector<std::string> feature_names() {
    std::vector<std::string> names;
    for (const variable_row& each : coroscope::trace::variables)
        if (each.recorded != nullptr) names.emplace_back(each.recorded);
    return names;
}

std::vector<std::string> policy_names() {
    std::vector<std::string> names;
    for (const char* each : coroscope::trace::row_of(variable::policy).words)
        names.emplace_back(each);
    return names;
}

/// The environment that makes the program record.
std::vector<std::string> recording(const run_command& asked) {
    std::vector<std::string> set{assigned(variable::trace, absolute(asked.output))};
    if (!is_set(variable::crash)) set.push_back(assigned(variable::crash, "1"));
    if (asked.no_open_scopes || !is_set(variable::open_scopes))
        set.push_back(assigned(variable::open_scopes, asked.no_open_scopes ? "0" : "1"));
    if (!asked.policy.empty()) set.push_back(assigned(variable::policy, asked.policy));
    if (asked.limit != 0) set.push_back(assigned(variable::limit, std::to_string(asked.limit)));
    if (asked.rotate != 0) set.push_back(assigned(variable::rotate, std::to_string(asked.rotate)));
    if (asked.keep != 0) set.push_back(assigned(variable::keep, std::to_string(asked.keep)));
    if (!asked.sample.empty()) set.push_back(assigned(variable::sample, asked.sample));
    if (!asked.budget.empty()) set.push_back(assigned(variable::budget, asked.budget));
    for (const variable_row& each : coroscope::trace::variables)
        if (each.recorded != nullptr &&
            std::count(asked.features.begin(), asked.features.end(), each.recorded) != 0)
            set.push_back(assigned(each.is, each.record_value));
    return set;
}

/// The words of --record for data that needs a preloaded library.
constexpr variable preloaded_features[] = {variable::blocking, variable::locks};

/// Takes those words out of the request, and returns them as one text: "blocking,locks".
std::string take_preloaded(run_command& asked) {
    std::string taken;
    for (const variable each : preloaded_features) {
        const char* const word = coroscope::trace::row_of(each).recorded;
        if (std::erase(asked.features, word) != 0)
            taken.append(taken.empty() ? "" : ",").append(word);
    }
    return taken;
}

/// Removes those words from the request if the library cannot be preloaded, and says why. Returns
/// the environment that preloads it.
std::vector<std::string> prepare_preload(run_command& asked, const program_place& program) {
    std::vector<std::string> all = asked.features;
    const std::string features = take_preloaded(asked);
    if (features.empty()) return {};
    preloading found = preload_into(program.path);
    if (found.obstacle.empty())
        asked.features = std::move(all);
    else
        report(asked.program.front(), {found.obstacle + ", so --record " + features +
                                       " cannot see its calls; the rest is recorded"});
    return found.environment;
}

/// The exit codes that shells and env(1) give for a program that could not be run.
int start_failure(const std::string& program, int error) {
    report(program, {std::generic_category().message(error)});
    return error == ENOENT ? 127 : 126;
}

int unknown_end(const std::string& program, int error) {
    report(program, {"its end is unknown: " + std::generic_category().message(error)});
    return exit_failure;
}

struct loaded_run {
    analysis::trace all;             ///< of all processes
    std::vector<std::string> paths;  ///< of the traces that could be loaded
    std::vector<std::size_t> tasks;  ///< for each trace: number of tasks before its own
};

bool has_work(const analysis::trace& loaded) {
    return !loaded.events.empty() || !loaded.tasks.empty();
}

loaded_run load_all(const std::vector<run_trace>& traces, const fold_choice& fold) {
    loaded_run run;
    for (std::size_t at = 0; at < traces.size(); ++at) {
        if (traces[at].has_later) continue;
        // Of several files of a process the newest is summarised. It may have begun after the last
        // work.
        std::size_t newest = at;
        auto loaded = folded(load_trace(traces[newest].path), fold);
        while (loaded && !has_work(*loaded) && newest > 0 && traces[newest - 1].has_later)
            loaded = folded(load_trace(traces[--newest].path), fold);
        if (!loaded) continue;
        run.paths.push_back(traces[newest].path);
        run.tasks.push_back(run.all.tasks.size());
        analysis::add_process(run.all, *loaded);
    }
    return run;
}

const std::string& path_of_task(const loaded_run& run, std::size_t task) {
    std::size_t at = run.paths.size() - 1;
    while (at != 0 && run.tasks[at] > task) --at;
    return run.paths[at];
}

/// Returns the path of the trace with the slowest request, which the summary names.
std::string path_of_request(const loaded_run& run) {
    const auto request = analysis::slowest_request(run.all);
    return request ? path_of_task(run, request->task) : run.paths.front();
}

/// The tasks and scopes that had not ended when the program ended.
std::string what_was_open(const loaded_run& run) {
    trace_of_task trace_of;
    if (run.paths.size() > 1)
        trace_of = [&run](std::uint32_t task) { return path_of_task(run, task); };
    return open_work(run.all) + open_scopes(run.all, trace_of);
}

std::string list_of(const std::vector<run_trace>& traces) {
    std::string text;
    for (const run_trace& each : traces)
        text += "trace: " + one_line(each.path) +
                (each.being_written ? " (a process that the program left still records)\n" : "\n");
    return text;
}

/// The number of characters in a line of the summary; 0: no limit.
std::size_t summary_width(const run_command& asked) {
    if (asked.summary_to == "-") return terminal_width();
    return asked.summary_to.empty() ? terminal_width_of(STDERR_FILENO) : 0;
}

/// Writes the summary to standard error, so that it does not mix with the program's output.
void write_summary(const run_command& asked, const std::string& text) {
    if (asked.summary_to.empty() || asked.summary_to == "-") {
        static_cast<void>(asked.summary_to.empty() ? print_text_on_error(text) : print_text(text));
        return;
    }
    destination to(asked.summary_to);
    to.write(text);
    if (const int error = to.error() != 0 ? to.error() : to.finish(); error != 0)
        static_cast<void>(failed(to, error));
}

/// Returns the summary, the traces, and the work that a program which died had not ended.
std::string end_text(const run_command& asked, const loaded_run& run, const child_result& ended,
                     const std::vector<run_trace>& traces) {
    std::string text =
        analysis::summary(run.all, {.line_width = summary_width(asked)}, path_of_request(run)) +
        list_of(traces);
    const analysis::trace_health& health = run.all.health;
    if (ended.signal != 0 || (!health.finished && !health.being_recorded))
        text += what_was_open(run);
    return text;
}

/// Writes the report of all processes, and returns the line that names it.
std::string write_html(const run_command& asked, const loaded_run& run) {
    const int code = write_report_to(
        asked.html, run.all, {.trace_path = run.paths.front(), .working_folder = working_folder()});
    return code == exit_success ? fmt::format("report: {}\n", one_line(asked.html)) : std::string();
}

void print_end(const run_command& asked, const child_result& ended,
               const std::vector<run_trace>& traces) {
    std::string text;
    if (traces.empty()) {
        report(
            asked.output,
            {"no trace appeared: the program is not linked with Coroscope, or it could not record. "
             "In that case it printed a line with the reason"});
    } else if (const loaded_run run = load_all(traces, asked.fold); !run.paths.empty()) {
        if (!asked.no_summary) text = end_text(asked, run, ended, traces);
        if (!asked.html.empty()) text += write_html(asked, run);
    }
    if (ended.signal != 0 && !asked.no_summary)
        text += one_line(signal_line(asked.program.front(), ended.signal)) + '\n';
    if (asked.no_summary)
        print_text(text);  // the line that names the report
    else
        write_summary(asked, text);
}

int run_program(run_command asked) {
    if (asked.program.empty())
        return usage_failure("run", "a program to run is missing; see coroscope run --help");
    const program_place program = find_program(asked.program.front());
    if (program.error != 0) return start_failure(asked.program.front(), program.error);
    const bool in_series = asked.rotate != 0 || is_set(variable::rotate);
    const std::string obstacle =
        make_way(in_series ? file_of_series(asked.output, 0) : asked.output, program.path);
    std::vector<std::string> environment;
    if (obstacle.empty()) {
        environment = prepare_preload(asked, program);
        const std::vector<std::string> more = recording(asked);
        environment.insert(environment.end(), more.begin(), more.end());
    } else {
        ::unsetenv(coroscope::trace::name_of(variable::trace));
        report(asked.output,
               {obstacle + "; the program runs without being recorded. Name another file by -o"});
    }
    // The program writes to the given file, and its children write beside that file, even if this
    // command is recorded itself.
    const run_traces traces(asked.output, in_series);
    const child_result ended =
        run_child(asked.program, environment, coroscope::trace::name_of(variable::trace_owner));
    if (ended.start_error != 0) return start_failure(asked.program.front(), ended.start_error);
    if (ended.wait_error != 0) return unknown_end(asked.program.front(), ended.wait_error);
    if (!obstacle.empty()) return ended.exit_code;
    const std::vector<run_trace> left = traces.collect();
    if (!asked.no_summary || !asked.html.empty()) print_end(asked, ended, left);
    return ended.exit_code;
}

/// Checks a size before CLI11 converts it: CLI11 would convert "-5" to 2^64 - 5.
std::string without_sign(std::string& size) {
    return size.starts_with('-') ? "a size must not be negative: " + size : std::string();
}

std::string sample_fault(const std::string& number) {
    return coroscope::trace::interval_from(number.c_str()) == 0
               ? "must be a number of requests from 1 to 65536, and not " + number
               : std::string();
}

std::string budget_fault(const std::string& percent) {
    return coroscope::trace::percent_from(percent.c_str()) < 0
               ? "must be a percentage from 0 to 100, as 1% or 0.5, and not " + percent
               : std::string();
}

}  // namespace

void add_run(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<run_command>();
    CLI::App* command =
        root.add_subcommand("run", "Record a program and print a summary of its time");
    command->add_option("-o,--output", asked->output, "The trace to write")
        ->type_name("PATH")
        ->capture_default_str();
    command
        ->add_option("--record", asked->features,
                     "Record more than scopes and tasks; separate several by commas")
        ->type_name("DATA,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember(feature_names()));
    command
        ->add_option(
            "--policy", asked->policy,
            "At the limit: drop new records, overwrite the oldest, or let the program wait")
        ->check(CLI::IsMember(policy_names()));
    command->add_option("--limit", asked->limit, "The greatest size of the trace: 256MiB, 1GiB")
        ->transform(CLI::AsSizeValue(false))
        ->transform(CLI::Validator(without_sign, ""));
    command
        ->add_option("--rotate", asked->rotate,
                     "Begin a new file, PATH with .1, .2 and so on before .cst, when the current "
                     "one has this size: 64MiB, 1GiB")
        ->transform(CLI::AsSizeValue(false))
        ->transform(CLI::Validator(without_sign, ""))
        ->check(CLI::Range(least_rotation, most_rotation));
    command->add_option("--keep", asked->keep, "Of these files, keep the N newest; 4 by default")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000'000))
        ->needs("--rotate");
    command
        ->add_option("--sample", asked->sample,
                     "Record one of N requests in full, and of the others only the request itself")
        ->type_name("N")
        ->check(CLI::Validator(sample_fault, ""));
    command
        ->add_option(
            "--budget", asked->budget,
            "Limit the processor time of recording to a share of the program's: 1%, 0.5%; above "
            "it, fewer requests are recorded in full")
        ->type_name("PERCENT")
        ->check(CLI::Validator(budget_fault, ""));
    command
        ->add_option("--html", asked->html,
                     "Write a report of the trace, which a browser opens (coroscope report)")
        ->type_name("PATH");
    add_fold_option(*command, asked->fold);
    command->add_flag(
        "--no-open-scopes", asked->no_open_scopes,
        "Do not name the scopes that are open at the end; each scope then costs less");
    CLI::Option* none = command->add_flag("--no-summary", asked->no_summary,
                                          "Print nothing after the program's own output");
    command
        ->add_option("--summary-to", asked->summary_to,
                     "Write the summary to this file instead of standard error; - for standard "
                     "output")
        ->type_name("PATH")
        ->excludes(none);
    command->footer("Write PROGRAM [ARGUMENT...] after the options, best after --. The command "
                    "exits as the program does,\n"
                    "with 128 + N if signal N ended the program, and with 127 or 126 if it could "
                    "not be started.\n\n"
                    "Example:\n  coroscope run -o trace.cst -- ./service --port 8080");
    command->callback([asked, &line] {
        line.chosen = [asked, &line] {
            asked->program = line.program;
            return run_program(*asked);
        };
    });
}

}  // namespace coroscope::tools
