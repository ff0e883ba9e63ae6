// SPDX-License-Identifier: Apache-2.0
#include "requests.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"
#include "request_choice.hpp"

namespace coroscope::tools {
namespace {

using analysis::output_format;
using analysis::request_list;

constexpr std::int64_t slowest_shown = 10;
constexpr std::int64_t steps_shown = 200;
constexpr std::string_view guess_note = "The program marks no request (docs/how-to/requests.md). "
                                        "These are guessed from its functions and tasks.\n";

struct requests_command {
    data_options data{.limit = no_limit_given, .chosen = part_of::requests};
    std::string show{};
    std::string request{};
};

int print_request(const requests_command& asked, const analysis::trace& loaded,
                  const request_list& list) {
    const auto found = find_request_or_report(asked.data.file, loaded, list, asked.request);
    if (!found) return exit_failure;
    const analysis::listing steps = analysis::list_request_steps(loaded, list.requests[*found]);
    if (const auto sorted = analysis::arranged(steps, {.sort_by = asked.data.sort_by}); !sorted)
        return usage_failure("--sort-by", sorted.error().message);
    switch (asked.data.format) {
        case output_format::csv: return print_listing(steps, with_limit(asked.data, -1), {});
        case output_format::json: return print(analysis::request_json(loaded, list, *found));
        case output_format::text: break;
    }
    const data_options shown = with_limit(asked.data, steps_shown);
    return print_view(analysis::request_text(loaded, list, *found, listing_form(shown)) +
                          analysis::loss_notes(loaded),
                      shown);
}

analysis::listing part_shown(std::string_view show, const analysis::trace& loaded,
                             const request_list& list,
                             const std::vector<analysis::request_type>& types) {
    if (show == "percentiles") return analysis::list_request_percentiles(loaded, types);
    if (show == "slowest") return analysis::list_slowest_requests(loaded, list, -1);
    return analysis::list_request_types(loaded, list, types);
}

/// Returns the line about sampling and an empty line; nothing if the session did not sample.
std::string head_of(const analysis::trace& loaded) {
    std::string text = analysis::sampling_note(loaded);
    if (!text.empty()) text += '\n';
    return text;
}

/// All three parts, one below the other. The limit is that of the slowest requests.
int print_parts(const requests_command& asked, const analysis::trace& loaded,
                const request_list& list, const std::vector<analysis::request_type>& types,
                std::string_view notes) {
    const auto sorted = analysis::arranged(analysis::list_request_types(loaded, list, types),
                                           {.sort_by = asked.data.sort_by});
    if (!sorted) return usage_failure("--sort-by", sorted.error().message);
    const analysis::listing_options how = listing_form(asked.data);
    const std::int64_t limit = with_limit(asked.data, slowest_shown).limit;
    std::string text = head_of(loaded);
    text += analysis::to_text(*sorted, how);
    text += loaded.sampling.is_on()
                ? "\nThe parts of the time at each percentile, only of requests in full\n\n"
                : "\nThe parts of the time of the request at each percentile\n\n";
    text += analysis::to_text(analysis::list_request_percentiles(loaded, types), how);
    text += "\nThe slowest requests (coroscope requests FILE --request ID shows one)\n\n";
    const analysis::listing slowest = analysis::list_slowest_requests(loaded, list, limit);
    text += analysis::to_text(slowest, how);
    if (slowest.rows.size() < list.requests.size())
        text += fmt::format("{} of {} rows\n", slowest.rows.size(), list.requests.size());
    return print_view(text.append("\n").append(notes), asked.data);
}

int run_requests(const requests_command& asked) {
    const auto loaded = load_trace(asked.data);
    if (!loaded) return exit_failure;
    const request_list list = analysis::requests_of(*loaded);
    if (!asked.request.empty()) return print_request(asked, *loaded, list);
    const std::vector<analysis::request_type> types =
        analysis::statistics_of_requests(*loaded, list);
    const bool is_guess = list.guessed && !list.requests.empty();
    const std::string notes =
        (is_guess ? std::string(guess_note) : std::string()) + analysis::loss_notes(*loaded);
    const bool all = asked.show.empty() && asked.data.format == output_format::text;
    if (all && !list.requests.empty()) return print_parts(asked, *loaded, list, types, notes);
    return print_listing(
        part_shown(asked.show, *loaded, list, types), with_limit(asked.data, -1), notes,
        list.requests.empty() ? "no request and no task was recorded; "
                                "docs/how-to/requests.md shows how to mark requests"
                              : "no request ended within the session");
}

}  // namespace

void add_requests(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<requests_command>();
    CLI::App* command = root.add_subcommand(
        "requests", "The requests: percentiles, the parts of their time, the slowest ones");
    add_data_options(*command, asked->data,
                     "count, per_second, failed, late, p50, p90, p99, p99_9, max, total, "
                     "abandoned, unfinished; for percentiles, slowest and one request: request, "
                     "start, wall, running, on_cpu, blocked, preempted, unknown_state, suspended, "
                     "queued, waiting, task, depth, waker");
    CLI::Option* show =
        command
            ->add_option("--show", asked->show,
                         "One part alone: types, percentiles or slowest; csv and json: types "
                         "unless given")
            ->type_name("PART")
            ->check(CLI::IsMember({"types", "percentiles", "slowest"}));
    add_request_option(*command, asked->request,
                       "One request with its scopes, awaits and child tasks")
        ->excludes(show);
    command->footer("Example:\n  coroscope requests trace.cst --limit 5\n  coroscope requests "
                    "trace.cst --request 42");
    command->callback([asked, &line] { line.chosen = [asked] { return run_requests(*asked); }; });
}

}  // namespace coroscope::tools
