// SPDX-License-Identifier: Apache-2.0
#include "rule_test.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline checks {
namespace {

constexpr std::size_t most_listed = 5;

}  // namespace

void victim_sums::add(const check_input& input, std::uint32_t request, std::int64_t time_ns) {
    const finding_place type = input.type_of(input.requests()[request]);
    sum& of_type = types_[{type.label, type.site}];
    of_type.requests.insert(request);
    requests_.insert(request);
    add_to(of_type.time_ns, time_ns);
    add_to(time_ns_, time_ns);
}

std::vector<finding_victim> victim_sums::list() const {
    std::vector<finding_victim> made;
    for (const auto& [type, sum] : types_)
        made.push_back({{type.first, type.second}, sum.requests.size(), sum.time_ns});
    std::ranges::stable_sort(made, std::ranges::greater(), &finding_victim::time_ns);
    if (made.size() > most_listed) made.resize(most_listed);
    return made;
}

void place_sums::add(const finding_place& place, std::int64_t time_ns) {
    add_to(sums_[{place.label, place.site}], time_ns);
    add_to(all_ns_, time_ns);
}

finding_place place_sums::largest() const {
    const auto found =
        std::ranges::max_element(sums_, {}, [](const auto& each) { return each.second; });
    if (found == sums_.end()) return {};
    return {found->first.first, found->first.second};
}

std::int64_t place_sums::largest_ns() const {
    std::int64_t largest_ns = 0;
    for (const auto& [place, time_ns] : sums_) largest_ns = std::max(largest_ns, time_ns);
    return largest_ns;
}

double place_sums::largest_share() const {
    return all_ns_ > 0 ? static_cast<double>(largest_ns()) / static_cast<double>(all_ns_) : 0;
}

void evidence_list::add(finding_evidence moment) {
    const auto after = std::ranges::find_if(
        moments_, [&](const finding_evidence& each) { return each.length_ns < moment.length_ns; });
    if (after == moments_.end() && moments_.size() >= most_listed) return;
    moments_.insert(after, std::move(moment));
    if (moments_.size() > most_listed) moments_.pop_back();
}

std::string victims_text(const check_input& input, std::uint64_t count) {
    const bool is_task = input.basis() == finding_basis::tasks;
    return fmt::format("{} of {} {}", count, input.requests().size(),
                       is_task ? "tasks" : "requests");
}

std::string share_text(const check_input& input, std::int64_t cost_ns) {
    const bool is_task = input.basis() == finding_basis::tasks;
    const double percent = 100 * input.share_of(cost_ns);
    return fmt::format("{:.{}f} % of all {} time", percent, percent < 1 ? 1 : 0,
                       is_task ? "task" : "request");
}

std::string label_text(const finding_place& place) {
    return place.label.empty() ? "code outside tasks" : printable(place.label);
}

std::string times_text(std::uint64_t count) {
    return count == 1 ? "once" : fmt::format("{} times", count);
}

}  // namespace coroscope::analysis::inline checks
