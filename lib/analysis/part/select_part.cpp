// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/select_part.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "cut_stretch.hpp"
#include "matching_work.hpp"
#include "select_work.hpp"

namespace coroscope::analysis {
namespace {

std::string text_of(const std::vector<work_condition>& where) {
    std::string text;
    for (const work_condition& each : where)
        text +=
            fmt::format("{}{}{}={}", text.empty() ? "" : " ",
                        each.attribute.empty() ? "name" : "attr:", each.attribute, each.pattern);
    return text;
}

result<stretch> stretch_of(const trace& whole, const part_choice& choice) {
    const std::int64_t from_ns = choice.from_ns.value_or(0);
    const std::int64_t to_ns =
        std::min(choice.to_ns.value_or(whole.duration_ns), whole.duration_ns);
    if (from_ns > whole.duration_ns)
        return failure{fmt::format("ends {} after its start, before the part begins ({})",
                                   format_short_time(whole.duration_ns),
                                   format_short_time(from_ns))};
    if (to_ns <= from_ns && whole.duration_ns != from_ns)
        return failure{fmt::format("no time lies between {} and {}", format_short_time(from_ns),
                                   format_short_time(choice.to_ns.value_or(to_ns)))};
    return stretch{from_ns, to_ns, to_ns == whole.duration_ns};
}

void note_stretch(trace& of, const stretch& to) {
    trace_part& noted = of.health.part;
    noted.from_ns += to.from_ns;  // of a part of a part
    noted.to_ns = noted.from_ns + to.length_ns();
    if (!noted.is_stretch) noted.whole_ns = of.duration_ns;
    noted.is_stretch = true;
}

void note_conditions(trace& of, const std::vector<work_condition>& where) {
    std::string& text = of.health.part.where;
    text += (text.empty() ? "" : " ") + text_of(where);
}

}  // namespace

result<trace> select_part(trace whole, const part_choice& choice) {
    if (choice.has_stretch()) {
        const auto to = stretch_of(whole, choice);
        if (!to) return to.error();
        note_stretch(whole, *to);
        cut_stretch(whole, *to);
    }
    if (!choice.where.empty()) {
        note_conditions(whole, choice.where);
        select_work(whole, choice.where);
    }
    return whole;
}

result<trace> select_requests(trace whole, const std::vector<work_condition>& where) {
    if (where.empty()) return whole;
    if (whole.requests.empty())
        return failure{
            "has no marked request (docs/how-to/requests.md), so conditions cannot choose one"};
    work_conditions conditions(whole, where);
    std::erase_if(whole.requests, [&](const request_info& each) { return !conditions.hold(each); });
    if (whole.requests.empty())
        return failure{fmt::format("has no request that meets {}", text_of(where))};
    note_conditions(whole, where);
    whole.health.part.requests_only = true;
    return whole;
}

}  // namespace coroscope::analysis
