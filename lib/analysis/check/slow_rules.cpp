// SPDX-License-Identifier: Apache-2.0
#include "slow_rules.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../path/group_parts.hpp"
#include "../text/utf8.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// The tail of one distribution is continuous: each request is little slower than the one before.
// Requests that take another way leave a gap in the sorted times.
constexpr std::int64_t gap_times = 2;       // the fastest slow request to the slowest other one
constexpr std::int64_t slow_times = 3;      // a slow request to the median
constexpr std::size_t fewest_in_group = 3;  // less may be chance
constexpr std::size_t fewest_cold = 1;      // being the first one is no chance
constexpr std::size_t fewest_of_type = 10;
constexpr std::size_t most_of_group = 50;
constexpr double least_part = 0.2;  // of the difference, as for the sentence of `run`
constexpr std::int64_t least_more_ns = 1'000'000;  // the kernel's scheduler causes less by itself
// Cold requests begin within this part of the requests of their type.
constexpr std::size_t cold_part = 5;

using group_members = std::vector<std::uint32_t>;  // indices into check_input::requests()

std::map<std::pair<std::string, std::uint32_t>, group_members> types_of(const check_input& input) {
    std::map<std::pair<std::string, std::uint32_t>, group_members> types;
    for (std::uint32_t at = 0; at < input.requests().size(); ++at) {
        const finding_place type = input.type_of(input.requests()[at]);
        types[{type.label, type.site}].push_back(at);
    }
    return types;
}

group_members by_time(const check_input& input, group_members type) {
    std::ranges::stable_sort(type, {},
                             [&](std::uint32_t at) { return input.requests()[at].program_ns(); });
    return type;
}

/// The slow requests of a type, and those around the median.
struct slow_group {
    group_members slow;  // the slowest first
    group_members median;
    std::int64_t median_ns = 0;
    std::int64_t excess_ns = 0;  // of all slow ones over the median
};

group_members around_median(const group_members& sorted) {
    const std::size_t count = std::clamp<std::size_t>(sorted.size() / 5, 1, most_of_group);
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - count) / 2);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
}

slow_group group_from(const check_input& input, const group_members& sorted,
                      std::size_t first_slow) {
    slow_group made;
    made.median = around_median(sorted);
    made.median_ns = input.requests()[sorted[sorted.size() / 2]].program_ns();
    for (std::size_t at = sorted.size(); at-- > first_slow;) {
        made.slow.push_back(sorted[at]);
        add_to(made.excess_ns, input.requests()[sorted[at]].program_ns() - made.median_ns);
    }
    return made;
}

// Returns the requests above the largest gap in the slower half, if they are apart.
std::optional<slow_group> apart(const check_input& input, const group_members& sorted,
                                std::size_t fewest) {
    const auto time_of = [&](std::size_t at) { return input.requests()[sorted[at]].program_ns(); };
    if (sorted.size() < fewest_of_type) return std::nullopt;
    const std::int64_t median_ns = std::max<std::int64_t>(time_of(sorted.size() / 2), 1);
    std::size_t found = 0;
    double widest = gap_times;
    for (std::size_t at = sorted.size() / 2 + 1; at + fewest <= sorted.size(); ++at) {
        const double gap = static_cast<double>(time_of(at)) /
                           static_cast<double>(std::max<std::int64_t>(time_of(at - 1), 1));
        if (gap < widest || time_of(at) < slow_times * median_ns) continue;
        widest = gap;
        found = at;
    }
    if (found == 0 || time_of(found) - median_ns < least_more_ns) return std::nullopt;
    return group_from(input, sorted, found);
}

std::vector<request_info> infos_of(const check_input& input, const group_members& of) {
    std::vector<request_info> made;
    for (const std::uint32_t at : of) {
        if (made.size() == most_of_group) break;
        made.push_back(input.requests()[at].info);
    }
    return made;
}

// Returns the work that explains a part. It does not explain a wait of which it takes less than
// half, such as the work of another thread that began late in the wait. Queued time without known
// work ahead does not count.
const difference_cause* main_cause(const request_difference& part) {
    if (!part.cause || !is_work(part.cause->role)) return nullptr;
    const std::int64_t whole_ns =
        part.kind == path_kind::queued ? part.explained_ns : part.more_ns();
    return 2 * part.cause->more_ns >= whole_ns ? &*part.cause : nullptr;
}

// Returns the largest part of the difference that the program explains.
std::optional<request_difference> reason_of(const check_input& input, const slow_group& group) {
    const auto parts =
        differences_of(input.loaded(), infos_of(input, group.slow), infos_of(input, group.median))
            .parts;
    std::int64_t program_ns = 0;
    const auto is_of_program = [](const request_difference& part) {
        return part.is_explained() && part.kind != path_kind::preempted;
    };
    for (const request_difference& each : parts)
        if (is_of_program(each)) add_to(program_ns, std::max<std::int64_t>(each.more_ns(), 0));
    const auto found = std::ranges::find_if(parts, is_of_program);
    if (found == parts.end() || found->more_ns() < least_more_ns / 2 ||
        static_cast<double>(found->more_ns()) < least_part * static_cast<double>(program_ns))
        return std::nullopt;
    return *found;
}

bool is_function(const trace& loaded, std::uint32_t site) {
    return site < loaded.sites.size() &&
           loaded.sites[site].kind ==
               static_cast<std::uint8_t>(coroscope::trace::site_kind::coroutine);
}

// Returns the work that explains the part, else the scope that waits, else the await.
finding_place cause_of_part(const trace& loaded, const request_difference& part) {
    const finding_place await{part.label, part.site};
    const difference_cause* const cause = main_cause(part);
    if (cause && !cause->label.empty() && cause->role != cause_role::waited)
        return {cause->label, cause->site};
    return part.scope.empty() || is_function(loaded, part.scope_site)
               ? await
               : finding_place{part.scope, part.scope_site};
}

finding describe(const check_input& input, const slow_group& group, const request_difference& part,
                 const finding_place& type) {
    finding made;
    made.cause = cause_of_part(input.loaded(), part);
    made.count = group.slow.size();
    made.cost_ns = group.excess_ns;
    made.victims = {{type, group.slow.size(), group.excess_ns}};
    const auto mean_ns = group.excess_ns / static_cast<std::int64_t>(group.slow.size());
    made.explanation = {
        fmt::format("the slow ones take {} longer than the median of {} on average, without the "
                    "time in which threads had no task or no processor",
                    format_span(mean_ns), format_span(group.median_ns)),
        fmt::format("{} of that is {} in `{}`", format_span(part.more_ns()), name_of(part.kind),
                    printable(part.label))};
    for (const std::uint32_t at : group.slow) {
        if (made.evidence.size() == 5) break;
        const request_info& request = input.requests()[at].info;
        made.evidence.push_back({.text = "a slow request",
                                 .place = type,
                                 .task = request.task,
                                 .thread = request.thread,
                                 .request = request.id,
                                 .start_ns = request.start_ns,
                                 .length_ns = request.wall_ns()});
    }
    return made;
}

// Returns whether nearly all slow requests came first, and nearly all first ones are slow.
bool is_cold(const slow_group& group, std::size_t of_type) {
    group_members slow = group.slow;
    std::ranges::sort(slow);  // requests are numbered by start
    const std::size_t most = slow.size() - slow.size() / 10;
    return slow.size() <= of_type / cold_part &&
           slow[most - 1] - slow.front() < most + most / 4 + 1;
}

template <class Use>
void for_each_slow_group(rule_context& context, std::size_t fewest, Use use) {
    const check_input& input = context.input();
    for (const auto& [type, requests] : types_of(input)) {
        const auto group = apart(input, by_time(input, requests), fewest);
        if (group && input.is_worth(group->excess_ns, least_share))
            use(*group, requests, finding_place{type.first, type.second});
    }
}

// Returns whether the group came first among the requests of its type.
bool is_first(const slow_group& group, const group_members& type) {
    const auto position = [&](std::uint32_t request) {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(type, request) - type.begin());
    };
    slow_group placed;
    for (const std::uint32_t each : group.slow) placed.slow.push_back(position(each));
    return std::ranges::min(placed.slow) <= 1 && is_cold(placed, type.size());
}

}  // namespace

void find_slow_groups(rule_context& context, std::vector<finding>& to) {
    for_each_slow_group(
        context, fewest_in_group,
        [&](const slow_group& group, const group_members& type, const finding_place& name) {
            if (is_first(group, type)) return;
            const auto part = reason_of(context.input(), group);
            if (!part) return;
            finding made = describe(context.input(), group, *part, name);
            made.title =
                fmt::format("{} of {} requests {} take another way than the others, through "
                            "`{}`, {}",
                            group.slow.size(), type.size(), printable(name.label),
                            label_text(made.cause), share_text(context.input(), made.cost_ns));
            to.push_back(std::move(made));
        });
}

void find_cold_starts(rule_context& context, std::vector<finding>& to) {
    for_each_slow_group(
        context, fewest_cold,
        [&](const slow_group& group, const group_members& type, const finding_place& name) {
            if (!is_first(group, type)) return;
            const auto part = reason_of(context.input(), group);
            if (!part) return;
            finding made = describe(context.input(), group, *part, name);
            made.title =
                fmt::format("the first {} of {} requests {} are slow, because of `{}`, {}",
                            group.slow.size(), type.size(), printable(name.label),
                            label_text(made.cause), share_text(context.input(), made.cost_ns));
            to.push_back(std::move(made));
        });
}

}  // namespace coroscope::analysis::inline checks
