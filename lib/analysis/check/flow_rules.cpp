// SPDX-License-Identifier: Apache-2.0
#include "flow_rules.hpp"

#include <algorithm>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// A row is a hint only: it must be worth a look in the source.
constexpr double least_row_share = 0.2;

std::string steps_line(const flow_pattern& of, const char* what) {
    const std::uint64_t requests = std::max<std::uint64_t>(of.victims.count(), 1);
    return fmt::format("{:.1f} {} for each of these requests, {} in all",
                       static_cast<double>(of.steps) / static_cast<double>(requests), what,
                       format_span(of.steps_ns));
}

finding from_pattern(const check_input& input, flow_pattern& of, const std::string& title) {
    finding made;
    made.cause = of.cause;
    made.victims = of.victims.list();
    made.count = of.steps;
    made.cost_ns = of.victims.time_ns();
    made.title = fmt::format("{}; {}, {}", title, victims_text(input, of.victims.count()),
                             share_text(input, made.cost_ns));
    made.evidence = of.evidence.take();
    return made;
}

}  // namespace

void find_repeated_calls(rule_context& context, std::vector<finding>& to) {
    const check_input& input = context.input();
    for (auto& [place, of] : context.patterns().repeated) {
        if (!input.is_worth(of.victims.time_ns(), least_share)) continue;
        finding made =
            from_pattern(input, of,
                         fmt::format("`{}` is awaited again and again, one after the other",
                                     label_text(of.cause)));
        made.explanation = {steps_line(of, "calls"),
                            "if they do not need each other's results, all of them at once take as "
                            "long as the longest one"};
        to.push_back(std::move(made));
    }
}

void find_polling(rule_context& context, std::vector<finding>& to) {
    const check_input& input = context.input();
    for (auto& [place, of] : context.patterns().polling) {
        if (!input.is_worth(of.victims.time_ns(), least_share)) continue;
        finding made = from_pattern(
            input, of,
            fmt::format("`{}` polls: a timer is awaited again and again", label_text(of.cause)));
        made.explanation = {
            steps_line(of, "rounds"),
            of.other.label.empty()
                ? "only code without a wait runs between the timers"
                : fmt::format("between the timers it asks `{}`", label_text(of.other))};
        to.push_back(std::move(made));
    }
}

void find_retries(rule_context& context, std::vector<finding>& to) {
    const check_input& input = context.input();
    for (auto& [place, of] : context.patterns().retries) {
        if (!input.is_worth(of.victims.time_ns(), least_share)) continue;
        finding made =
            from_pattern(input, of,
                         of.other.label.empty()
                             ? fmt::format("`{}` is tried again and again", label_text(of.cause))
                             : fmt::format("`{}` and `{}` alternate, as attempts and their delays",
                                           label_text(of.cause), label_text(of.other)));
        made.explanation = {
            steps_line(of, "attempts"),
            of.failed == 0
                ? std::string("the trace does not show how the attempts ended")
                : fmt::format("{} of {} attempts ended with an error", of.failed, of.steps)};
        to.push_back(std::move(made));
    }
}

void find_sequential_awaits(rule_context& context, std::vector<finding>& to) {
    const check_input& input = context.input();
    for (auto& [places, of] : context.patterns().rows) {
        if (!input.is_worth(of.victims.time_ns(), least_row_share) ||
            of.victims.count() * 2 < of.of_type)
            continue;
        std::string names;
        for (const std::string& each : of.row)
            names += (names.empty() ? "`" : ", `") + printable(each) + '`';
        finding made =
            from_pattern(input, of, fmt::format("{} are awaited one after the other", names));
        made.explanation = {steps_line(of, "waits"),
                            "nothing runs between them; if they do not depend on each other, they "
                            "can wait together"};
        to.push_back(std::move(made));
    }
}

}  // namespace coroscope::analysis::inline checks
