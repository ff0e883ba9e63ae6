// SPDX-License-Identifier: Apache-2.0
#include "why.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "data_command.hpp"
#include "output.hpp"
#include "request_choice.hpp"

namespace coroscope::tools {
namespace {

struct why_command {
    data_options data{.chosen = part_of::requests};
    std::string request{};
    std::string type{};
};

std::string why_nothing(const why_command& asked, const analysis::trace& loaded,
                        const analysis::request_list& list) {
    const auto types = analysis::statistics_of_requests(loaded, list);
    const bool is_known = std::ranges::any_of(
        types, [&](const analysis::request_type& each) { return each.name == asked.type; });
    if (!asked.type.empty() && !is_known)
        return fmt::format("has no request of the type {}; coroscope requests lists the types",
                           asked.type);
    return fmt::format("{} {} whole requests to compare; coroscope requests lists them, coroscope "
                       "path explains one",
                       asked.type.empty() && asked.request.empty() ? "no type of request has"
                                                                   : "this type has fewer than",
                       analysis::fewest_compared_requests);
}

/// Returns the reason why a request cannot be compared; empty if it can.
std::string why_not_whole(const analysis::request_info& request) {
    using analysis::request_end;
    if (request.left_out)
        return fmt::format(
            "request {} was left out by sampling, so the parts of its time are unknown",
            request.id);
    const char* reason = nullptr;
    if (request.clipped)
        reason = "began before the session";
    else if (request.end == request_end::unfinished)
        reason = "had not ended when the session ended, or its end was lost";
    else if (request.end == request_end::abandoned)
        reason = "was abandoned";
    if (reason == nullptr) return {};
    return fmt::format("request {} {}; only a whole request can be compared with others. coroscope "
                       "path --request {} explains its time so far",
                       request.id, reason, request.id);
}

/// Reports the reason if there is nothing to compare.
std::optional<analysis::slow_requests> compared(const why_command& asked,
                                                const analysis::trace& loaded) {
    const analysis::request_list list = analysis::requests_of(loaded);
    std::optional<analysis::slow_requests> found;
    if (asked.request.empty()) {
        found = analysis::compare_slow_requests(loaded, list, asked.type);
    } else {
        const auto chosen = find_request_or_report(asked.data.file, loaded, list, asked.request);
        if (!chosen) return std::nullopt;
        if (const std::string reason = why_not_whole(list.requests[*chosen]); !reason.empty()) {
            report(asked.data.file, {reason});
            return std::nullopt;
        }
        found = analysis::compare_request(loaded, list, *chosen);
    }
    if (!found) report(asked.data.file, {why_nothing(asked, loaded, list)});
    return found;
}

int run_why(const why_command& asked) {
    const auto loaded = load_trace(asked.data);
    if (!loaded) return exit_failure;
    const auto found = compared(asked, *loaded);
    if (!found) return exit_failure;
    const analysis::listing all = analysis::list_differences(*loaded, *found, true);
    if (const auto sorted = analysis::arranged(all, {.sort_by = asked.data.sort_by}); !sorted)
        return usage_failure("--sort-by", sorted.error().message);
    switch (asked.data.format) {
        case analysis::output_format::csv: return print_listing(all, asked.data, {});
        case analysis::output_format::json:
            return print(analysis::slow_requests_json(*loaded, *found));
        case analysis::output_format::text: break;
    }
    return print_view(analysis::slow_requests_text(*loaded, *found, listing_form(asked.data)) +
                          analysis::loss_notes(*loaded),
                      asked.data);
}

}  // namespace

void add_why(CLI::App& root, command_line& line) {
    auto asked = std::make_shared<why_command>();
    CLI::App* command = root.add_subcommand(
        "why", "The differences between slow requests and median ones, on their critical paths");
    add_data_options(*command, asked->data, "more, share_percent, slow, median");
    CLI::Option* request = add_request_option(*command, asked->request, "One request");
    command
        ->add_option("--type", asked->type,
                     "The requests of this name; without it, the type of the slowest request "
                     "that can be compared")
        ->type_name("NAME")
        ->excludes(request);
    command->footer("Example:\n  coroscope why trace.cst\n  coroscope why trace.cst --request 42");
    command->callback([asked, &line] { line.chosen = [asked] { return run_why(*asked); }; });
}

}  // namespace coroscope::tools
