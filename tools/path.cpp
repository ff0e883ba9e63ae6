// SPDX-License-Identifier: Apache-2.0
#include "path.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"
#include "request_choice.hpp"

namespace coroscope::tools {
namespace {

constexpr std::int64_t segments_shown = 60;

struct path_command {
    data_options data{.limit = no_limit_given, .chosen = part_of::requests};
    std::optional<std::uint64_t> task;
    std::string request{};
    std::string type{};
};

/// Returns the request that the options name, else the slowest whole one. If there is none, reports
/// the reason.
std::optional<std::size_t> chosen_request(const path_command& asked, const analysis::trace& loaded,
                                          const analysis::request_list& list) {
    if (!asked.request.empty())
        return find_request_or_report(asked.data.file, loaded, list, asked.request);
    const auto slowest = analysis::find_slowest(list);
    if (!slowest)
        report(asked.data.file, {"no request and no task has ended, so there is no slowest one"});
    return slowest;
}

std::optional<analysis::critical_path> chosen_path(const path_command& asked,
                                                   const analysis::trace& loaded) {
    if (asked.task) {
        const auto task = find_task_or_report(asked.data.file, loaded, *asked.task);
        if (!task) return std::nullopt;
        return analysis::critical_path_of_task(loaded, *task);
    }
    const analysis::request_list list = analysis::requests_of(loaded);
    const auto request = chosen_request(asked, loaded, list);
    if (!request) return std::nullopt;
    return analysis::critical_paths(loaded, {&list.requests[*request], 1}).front();
}

int run_path_of_type(const path_command& asked, const analysis::trace& loaded) {
    const auto found =
        analysis::paths_of_requests(loaded, analysis::requests_of(loaded), asked.type);
    if (!found) {
        report(asked.data.file, {fmt::format("has no whole request of the type {} that was "
                                             "recorded in full; coroscope requests lists the types",
                                             asked.type)});
        return exit_failure;
    }
    const analysis::listing all = analysis::list_request_paths(loaded, *found, true);
    if (const auto sorted = analysis::arranged(all, {.sort_by = asked.data.sort_by}); !sorted)
        return usage_failure("--sort-by", sorted.error().message);
    switch (asked.data.format) {
        case analysis::output_format::csv: return print_listing(all, asked.data, {});
        case analysis::output_format::json:
            return print(analysis::request_paths_json(loaded, *found));
        case analysis::output_format::text: break;
    }
    return print_view(analysis::request_paths_text(loaded, *found, listing_form(asked.data)) +
                          analysis::loss_notes(loaded),
                      asked.data);
}

int run_path(const path_command& asked) {
    const auto loaded = load_trace(asked.data);
    if (!loaded) return exit_failure;
    if (!asked.type.empty()) return run_path_of_type(asked, *loaded);
    const auto path = chosen_path(asked, *loaded);
    if (!path) return exit_failure;
    const analysis::listing segments = analysis::list_path(*loaded, *path);
    if (const auto sorted = analysis::arranged(segments, {.sort_by = asked.data.sort_by}); !sorted)
        return usage_failure("--sort-by", sorted.error().message);
    switch (asked.data.format) {
        case analysis::output_format::csv:
            return print_listing(segments, with_limit(asked.data, -1), {});
        case analysis::output_format::json: return print(analysis::path_json(*loaded, *path));
        case analysis::output_format::text: break;
    }
    const data_options shown = with_limit(asked.data, segments_shown);
    return print_view(analysis::path_text(*loaded, *path, listing_form(shown)) +
                          analysis::loss_notes(*loaded),
                      shown);
}

}  // namespace

void add_path(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<path_command>();
    CLI::App* command = root.add_subcommand(
        "path",
        "The critical path of the slowest request, of another one, of a task, or of all requests "
        "of a type");
    add_data_options(
        *command, asked->data,
        "start, ns, share_percent, task; with --type mean, share_percent, own, p50, p95, p99, "
        "requests, depth");
    CLI::Option* task = add_task_option(*command, asked->task, "The path of this task");
    add_request_option(*command, asked->request, "The path of this request")->excludes(task);
    command
        ->add_option("--type", asked->type,
                     "The paths of all requests of this name, added up as a tree of places")
        ->type_name("NAME")
        ->excludes(task)
        ->excludes("--request");
    command->footer(
        "Example:\n  coroscope path trace.cst\n  coroscope path trace.cst --request 42\n"
        "  coroscope path trace.cst --type \"GET /item\"");
    command->callback([asked, &line] { line.chosen = [asked] { return run_path(*asked); }; });
}

}  // namespace coroscope::tools
