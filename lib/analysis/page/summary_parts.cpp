// SPDX-License-Identifier: Apache-2.0
#include "summary_parts.hpp"

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/comparison_views.hpp>
#include <coroscope/analysis/findings_views.hpp>
#include <coroscope/analysis/request_paths.hpp>
#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/views.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "../words/health.hpp"
#include "../words/state_source.hpp"
#include "answer_tables.hpp"
#include "page_frame.hpp"
#include "page_sources.hpp"

namespace coroscope::analysis::inline pages {
namespace {

std::string json_text(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string json_list(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& each : texts)
        out.append(out.empty() ? "" : ",").append(json_text(each));
    return fmt::format("[{}]", out);
}

/// The lines of a text, without empty ones.
std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (!line.empty()) lines.emplace_back(line);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return lines;
}

std::vector<std::string> page_notes(const page_input& input) {
    std::vector<std::string> notes = lines_of(sampling_note(input.from));
    if (input.list.guessed && !input.list.requests.empty())
        notes.emplace_back("The program marks no request, so these are guessed from its functions "
                           "and tasks. docs/how-to/requests.md shows how to mark requests.");
    if (!input.from.states.any())
        notes.push_back("The states of threads were not recorded, so running time is not divided "
                        "into on-CPU, blocked and preempted: " +
                        state_source_text(input.from.states));
    if (const std::string devices = device_note(input.from.health); !devices.empty())
        notes.push_back(devices);
    return notes;
}

std::string overhead_json(const trace& from) {
    const double scopes = static_cast<double>(from.events.size()) * from.scope_cost_ns;
    const double awaits = static_cast<double>(from.awaits.size()) * from.await_cost_ns;
    const auto running = static_cast<double>(total_average(from).self_cpu_time_total_ns);
    if (from.scope_cost_ns <= 0 || running <= 0) return "null";
    return fmt::format("{{\"recording_ns\":{},\"share\":{:.6f}}}",
                       static_cast<std::int64_t>(scopes + awaits), (scopes + awaits) / running);
}

/// One document for each type of requests; those without one are left out.
template <class Answer>
std::string of_each_type(const page_input& input, const Answer& answer) {
    constexpr std::size_t most_types = 50;
    std::string out;
    for (std::size_t at = 0; at < std::min(input.types.size(), most_types); ++at) {
        if (const std::string json = answer(input.types[at].name); !json.empty())
            out += (out.empty() ? "" : ",\n") + json;
    }
    return '[' + out + ']';
}

std::string why_json(const page_input& input) {
    return of_each_type(input, [&](const std::string& name) {
        const auto found = compare_slow_requests(input.from, input.list, name);
        return found ? slow_requests_json(input.from, *found) : std::string();
    });
}

std::string type_paths_json(const page_input& input) {
    return of_each_type(input, [&](const std::string& name) {
        const auto found = paths_of_requests(input.from, input.list, name);
        return found ? request_paths_json(input.from, *found) : std::string();
    });
}

std::string against_json(const page_input& input) {
    const trace* const before = input.options.against;
    if (before == nullptr) return "null";
    const run_summary sides[] = {summarize_run(*before, input.options.against_path),
                                 summarize_run(input.from, input.options.trace_path)};
    const comparison compared = compare_runs({&sides[0], 1}, {&sides[1], 1});
    return fmt::format("{{\"trace\":{},\"title\":{},\"info\":{},\"sentence\":{},\"notes\":{},"
                       "\"comparison\":{}}}",
                       json_text(input.options.against_path), json_text(before->process_name),
                       info_json(*before), json_text(comparison_sentence(compared)),
                       json_list(compared.notes), answer_json(list_comparison(compared)));
}

}  // namespace

std::string summary_json(const page_input& input) {
    const trace& from = input.from;
    const report_options& options = input.options;
    std::string out = fmt::format("{{\"format\":1,\"version\":{},\"title\":{},\"trace\":{},\n",
                                  json_text(page_version()), json_text(from.process_name),
                                  json_text(options.trace_path));
    const auto member = [&out](std::string_view name, std::string_view json) {
        out.append(json_text(name)).append(":").append(json).append(",\n");
    };
    member("has_states", from.states.any() ? "true" : "false");
    member("whole", input.shown.is_whole ? "true" : "false");
    member("info", info_json(from));
    member("losses", json_list(health_notes(from.health)));
    member("notes", json_list(page_notes(input)));
    member("left_out", left_out_json(input));
    member("overhead", overhead_json(from));
    member("requests", request_types_json(input));
    member("findings", findings_json(from, check(from)));
    member("why", why_json(input));
    member("paths", type_paths_json(input));
    member("tables", answers_json(input));
    member("against", against_json(input));
    member("sources", sources_json(from, options));
    member("redacted", json_list(options.redacted));
    member("editor", options.editor_link.empty() ? "null" : json_text(options.editor_link));
    out.resize(out.size() - 2);
    return out + '}';
}

}  // namespace coroscope::analysis::inline pages
