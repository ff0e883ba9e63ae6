// SPDX-License-Identifier: Apache-2.0

// Findings as text.

#include <coroscope/analysis/findings_views.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../../text/utf8.hpp"
#include "../../words/places.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::size_t most_moments = 3;

// Returns nothing for less than a twentieth of the request time.
std::string part_text(const findings& of, std::int64_t part_ns, std::string_view part) {
    if (part_ns == 0 || part_ns * 20 < of.request_ns) return {};
    return fmt::format("; {} of it {}", format_span(part_ns), part);
}

std::string basis_text(const findings& of) {
    const std::string time = format_span(of.request_ns);
    const std::string machine =
        part_text(of, of.machine_ns, "threads had work, but no processor") +
        part_text(of, of.idle_ns, "no recorded task ran on the threads they were queued for");
    const std::string number = of.requests < of.whole_requests
                                   ? fmt::format("{} of {}", of.requests, of.whole_requests)
                                   : std::to_string(of.requests);
    switch (of.basis) {
        case finding_basis::marked_requests:
            return fmt::format("{} requests, {} in all{}\n", number, time, machine);
        case finding_basis::guessed_requests:
            return fmt::format("no request is marked; {} guessed requests, {} in all{}\n", number,
                               time, machine);
        case finding_basis::tasks: break;
    }
    return fmt::format("no request is marked; {} tasks, {} in all{}\n", number, time, machine);
}

std::string moment_text(const trace& loaded, const finding_evidence& moment) {
    std::string text =
        fmt::format("  at {} for {}: `{}` {}", format_span(moment.start_ns),
                    format_span(moment.length_ns), printable(moment.place.label), moment.text);
    if (moment.task < loaded.tasks.size())
        text += fmt::format(", task {}", loaded.tasks[moment.task].id);
    if (moment.thread < loaded.threads.size())
        text += fmt::format(", thread {}", printable(thread_name(loaded, moment.thread)));
    if (moment.request != 0) text += fmt::format(", request {}", moment.request);
    return text + '\n';
}

std::string finding_text(const trace& loaded, const finding& of) {
    const std::string place = site_place(loaded, of.cause.site);
    std::string text = fmt::format("\n{}: {} [{}]\n", name_of(of.severity), of.title, of.rule->id);
    text += fmt::format("  cause: {}{}\n",
                        of.cause.label.empty() ? "code outside tasks" : printable(of.cause.label),
                        place.empty() ? "" : " at " + printable(place));
    for (const finding_victim& each : of.victims)
        text += fmt::format("  delayed: {}, {} times, {}\n", printable(each.place.label),
                            each.count, format_span(each.time_ns));
    for (const std::string& line : of.explanation) text += fmt::format("  {}\n", line);
    for (std::size_t at = 0; at < std::min(most_moments, of.evidence.size()); ++at)
        text += moment_text(loaded, of.evidence[at]);
    return text + fmt::format("  try: {}\n", of.rule->advice);
}

// One line for each lack of facts, with its rules.
std::string not_run_text(const findings& of) {
    std::map<std::string, std::string> by_lack;
    for (const rule_not_run& each : of.not_run) {
        std::string& rules = by_lack[each.needs];
        rules += (rules.empty() ? "" : ", ") + std::string(each.rule->id);
    }
    std::string text;
    for (const auto& [needs, rules] : by_lack)
        text += fmt::format("not run: {} (without {})\n", rules, needs);
    return text.empty() ? text : '\n' + text;
}

}  // namespace

std::string findings_text(const trace& loaded, const findings& of) {
    std::string text = basis_text(of);
    if (of.found.empty()) text += "no findings\n";
    for (const finding& each : of.found) text += finding_text(loaded, each);
    return text + not_run_text(of);
}

std::string rule_text(const finding_rule& rule) {
    return fmt::format("{} ({}): {}\n\n{}\n\nThreshold: {}\nNeeds: {}\nTry: {}\nWhen it is wrong: "
                       "{}\n",
                       rule.id, name_of(rule.severity), rule.title, rule.meaning, rule.threshold,
                       rule.needs.empty() ? "nothing beyond tasks and scopes" : rule.needs,
                       rule.advice, rule.doubts);
}

}  // namespace coroscope::analysis
