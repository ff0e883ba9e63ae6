// SPDX-License-Identifier: Apache-2.0
#include "flow_patterns.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

namespace coroscope::analysis::inline checks {
namespace {

// A loop makes so many calls. Fewer equal calls may have been written one by one.
constexpr std::uint64_t loop_steps = 5;
// So many attempts without a known failure are a loop that waits for a result.
constexpr std::uint64_t most_retries = 2;
// A back-off grows from one attempt to the next one.
constexpr std::int64_t growth_percent = 150;
constexpr std::size_t least_row = 3;

struct flow_repeats {
    std::uint64_t count = 0;
    std::int64_t total_ns = 0;
    std::int64_t longest_ns = 0;
    std::uint64_t failed = 0;
    std::uint64_t timers = 0;
    std::uint64_t calls = 0;
};

class pattern_finder {
public:
    explicit pattern_finder(check_input& input) : input_(input) {}

    flow_patterns find() {
        std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> types;
        for (const checked_request& each : input_.requests()) {
            const finding_place type = input_.type_of(each);
            ++types[{type.label, type.site}];
        }
        for (std::uint32_t at = 0; at < input_.requests().size(); ++at) {
            const finding_place type = input_.type_of(input_.requests()[at]);
            of_type_ = types[{type.label, type.site}];
            request_ = at;
            add(flow_of(input_, input_.requests()[at]));
        }
        return std::move(found_);
    }

private:
    void add(const request_flow& flow) {
        if (flow.steps.size() < 2 || std::ranges::any_of(flow.steps, &flow_step::is_unproven))
            return;
        const std::int64_t wall_ns = input_.requests()[request_].info.wall_ns();
        std::map<std::uint32_t, flow_repeats> places;
        for (const flow_step& each : flow.steps) {
            flow_repeats& of = places[each.place];
            ++of.count;
            add_to(of.total_ns, each.length_ns());
            of.longest_ns = std::max(of.longest_ns, each.length_ns());
            of.failed += each.failed ? 1 : 0;
            of.timers += each.is_timer ? 1 : 0;
            of.calls += each.is_call ? 1 : 0;
        }
        if (add_attempts(flow, places)) return;
        for (const auto& [place, of] : places) {
            if (of.count < loop_steps || of.total_ns < wall_ns / 2) continue;
            if (of.failed * 2 >= of.count)
                note(found_.retries, place, flow, of, of.total_ns - of.longest_ns);
            else if (of.timers == of.count)
                note(found_.polling, place_of_loop(flow, place), flow, of, of.total_ns);
            else if (of.calls == of.count)
                note(found_.repeated, place, flow, of, of.total_ns - of.longest_ns);
        }
        add_row(flow, wall_ns);
    }

    // Finds a call that is repeated after a timer. Returns false if there is none.
    bool add_attempts(const request_flow& flow,
                      const std::map<std::uint32_t, flow_repeats>& places) {
        const std::span<const flow_step> steps = flow.steps;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> pairs;
        for (std::size_t at = 1; at + 1 < steps.size(); ++at)
            if (steps[at].is_timer && !steps[at - 1].is_timer &&
                steps[at - 1].place == steps[at + 1].place)
                pairs[{steps[at - 1].place, steps[at].place}].push_back(at);
        for (const auto& [pair, delays] : pairs) {
            std::int64_t lost_ns = 0;
            std::int64_t more_ns = 0;  // by which the delays are longer than the calls
            for (const std::size_t at : delays) {
                add_to(more_ns, steps[at].own_ns() - steps[at - 1].own_ns());
                add_to(lost_ns, steps[at].end_ns - steps[at - 1].start_ns);
            }
            const flow_repeats& calls = places.at(pair.first);
            const bool grows =
                delays.size() > 1 && steps[delays.back()].suspended_ns * 100 >=
                                         steps[delays.front()].suspended_ns * growth_percent;
            const bool is_retry = calls.failed != 0 || grows || delays.size() <= most_retries;
            const bool is_delay_longer = more_ns > 0;
            const std::uint32_t cause = is_retry && !is_delay_longer ? pair.first : pair.second;
            flow_pattern& pattern =
                note(is_retry ? found_.retries : found_.polling, cause, flow, calls, lost_ns);
            const std::uint32_t other = cause == pair.first ? pair.second : pair.first;
            pattern.other = place(other);
        }
        return !pairs.empty();
    }

    [[nodiscard]] finding_place place(std::uint32_t number) {
        const numbered_place& of = input_.places()[number];
        return {of.label, of.site};
    }

    // The scope around a loop of timers; if there is none but the request, the timers.
    std::uint32_t place_of_loop(const request_flow& flow, std::uint32_t timers) {
        const bool is_named =
            flow.scope != none && flow.scope != input_.requests()[request_].info.event;
        return is_named ? input_.places().of_work(flow.task, flow.scope) : timers;
    }

    template <class Map, class Key>
    flow_pattern& pattern_at(Map& patterns, const Key& key, std::uint32_t cause) {
        flow_pattern& pattern = patterns[key];
        pattern.cause = place(cause);
        pattern.of_type = std::max(pattern.of_type, of_type_);
        return pattern;
    }

    flow_pattern& note(std::map<std::uint32_t, flow_pattern>& patterns, std::uint32_t cause,
                       const request_flow& flow, const flow_repeats& of, std::int64_t cost_ns) {
        flow_pattern& pattern = pattern_at(patterns, cause, cause);
        pattern.victims.add(input_, request_, cost_ns);
        pattern.steps += of.count;
        pattern.failed += of.failed;
        add_to(pattern.steps_ns, of.total_ns);
        pattern.evidence.add(moment(flow, pattern.cause, "repeated"));
        return pattern;
    }

    [[nodiscard]] finding_evidence moment(const request_flow& flow, const finding_place& at,
                                          const char* text) const {
        return {.text = text,
                .place = at,
                .task = flow.task,
                .request = input_.requests()[request_].info.id,
                .start_ns = flow.steps.front().start_ns,
                .length_ns = flow.end_ns - flow.steps.front().start_ns};
    }

    // Whether a step may be a part of a row of independent calls.
    static bool is_in_row(const flow_step& step, std::int64_t wall_ns) {
        return step.is_call && !step.failed && !step.is_timer && step.length_ns() * 10 >= wall_ns &&
               step.suspended_ns * 2 >= step.length_ns();
    }

    void add_row(const request_flow& flow, std::int64_t wall_ns) {
        std::vector<std::uint32_t> row;
        std::int64_t total_ns = 0;
        std::int64_t longest_ns = 0;
        std::int64_t end_ns = 0;
        std::set<std::uint32_t> met;
        std::vector<std::int64_t> lengths_ns;
        for (const flow_step& each : flow.steps) {
            const bool goes_on = row.empty() || (each.start_ns - end_ns) * 20 <= wall_ns;
            if (!is_in_row(each, wall_ns) || !goes_on || !met.insert(each.place).second) {
                if (row.size() >= least_row) break;
                row.clear();
                met.clear();
                lengths_ns.clear();
                total_ns = longest_ns = 0;
                continue;
            }
            row.push_back(each.place);
            lengths_ns.push_back(each.length_ns());
            add_to(total_ns, each.length_ns());
            longest_ns = std::max(longest_ns, each.length_ns());
            end_ns = each.end_ns;
        }
        if (row.size() < least_row || total_ns * 10 < wall_ns * 6) return;
        flow_pattern& pattern = pattern_at(found_.rows, row, row.front());
        for (std::size_t at = 0; at < row.size(); ++at)
            pattern.longest.add(place(row[at]), lengths_ns[at]);
        pattern.cause = pattern.longest.largest();
        pattern.victims.add(input_, request_, total_ns - longest_ns);
        pattern.steps += row.size();
        add_to(pattern.steps_ns, total_ns);
        if (pattern.row.empty())
            for (const std::uint32_t each : row) pattern.row.push_back(place(each).label);
        pattern.evidence.add(moment(flow, pattern.cause, "awaited in a row"));
    }

    check_input& input_;
    flow_patterns found_;
    std::uint32_t request_ = 0;
    std::uint64_t of_type_ = 0;
};

}  // namespace

flow_patterns flow_patterns_of(check_input& input) { return pattern_finder(input).find(); }

}  // namespace coroscope::analysis::inline checks
