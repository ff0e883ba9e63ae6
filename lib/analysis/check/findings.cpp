// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/findings.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "check_input.hpp"
#include "rule_context.hpp"
#include "rule_table.hpp"

namespace coroscope::analysis {
namespace {

bool is_same_place(const finding_place& left, const finding_place& right) {
    return left.site != none ? left.site == right.site : left.label == right.label;
}

// Some rules describe in general what a more exact rule explains: the larger, the more general.
int generality(const finding& of) {
    if (of.rule->id == "slow-group") return 2;
    return of.rule->id == "n-plus-one" ? 1 : 0;
}

// Keeps one finding for each cause: the most exact one, else the one with the largest cost. The
// findings must be in the order of their costs. Findings without a cost describe other things.
void remove_repeated(std::vector<finding>& found) {
    std::ranges::stable_sort(found, {}, generality);
    std::vector<finding> kept;
    for (finding& each : found) {
        const bool is_known =
            each.cost_ns > 0 && std::ranges::any_of(kept, [&](const finding& other) {
                return other.cost_ns > 0 && is_same_place(each.cause, other.cause);
            });
        if (!is_known) kept.push_back(std::move(each));
    }
    found = std::move(kept);
}

// The public parts of the table.
std::vector<finding_rule> public_rules() {
    std::vector<finding_rule> made;
    for (const rule_entry& each : rule_table()) made.push_back(each.rule);
    return made;
}

}  // namespace

std::span<const finding_rule> finding_rules() noexcept {
    static const std::vector<finding_rule> rules = public_rules();
    return rules;
}

const finding_rule* find_rule(std::string_view id) noexcept {
    const auto rules = finding_rules();
    const auto found = std::ranges::find(rules, id, &finding_rule::id);
    return found == rules.end() ? nullptr : &*found;
}

std::string_view name_of(finding_severity severity) noexcept {
    switch (severity) {
        case finding_severity::note: return "note";
        case finding_severity::warning: return "warning";
        case finding_severity::error: break;
    }
    return "error";
}

findings check(const trace& loaded) { return check(loaded, check_options()); }

findings check(const trace& loaded, const check_options& options) {
    check_input input(loaded, options);
    rule_context context(input);
    findings made;
    made.basis = input.basis();
    made.requests = input.requests().size();
    made.whole_requests = input.whole_requests();
    made.request_ns = input.request_ns();
    made.machine_ns = input.stalled().preempted_ns;
    made.idle_ns = input.stalled().idle_ns;
    const auto table = rule_table();
    for (std::size_t at = 0; at < table.size(); ++at) {
        const finding_rule& rule = finding_rules()[at];
        if (std::string needs = table[at].lacks(input); !needs.empty()) {
            made.not_run.push_back({&rule, std::move(needs)});
            continue;
        }
        const std::size_t first = made.found.size();
        table[at].test(context, made.found);
        for (std::size_t each = first; each < made.found.size(); ++each) {
            finding& of = made.found[each];
            of.rule = &rule;
            of.severity = rule.severity;
            of.share = input.share_of(of.cost_ns);
        }
    }
    std::ranges::stable_sort(made.found, std::ranges::greater(), &finding::cost_ns);
    remove_repeated(made.found);
    std::ranges::stable_sort(made.found, std::ranges::greater(), &finding::cost_ns);
    return made;
}

}  // namespace coroscope::analysis
