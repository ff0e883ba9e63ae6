// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/comparison.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "comparability.hpp"
#include "estimate.hpp"
#include "match_rows.hpp"
#include "student.hpp"

namespace coroscope::analysis {
namespace {

constexpr double error_rate = 0.05;  // of all intervals together
constexpr double same_margin = 0.1;
// A certain change below this is real, but the order of functions in memory may be its only cause.
constexpr double least_change = 0.02;

/// A row before its verdict.
struct row_in_progress {
    comparison_row row;
    std::optional<estimate> change;
    std::string why_unclear;
};

/// The median over all awaits of a run tells little if only a few wakes are known.
bool knows_wakes(const row_in_runs& runs) {
    return std::ranges::all_of(runs, [](const row_in_run& each) {
        return 2 * each.row->time.count >= each.row->with_delay.count;
    });
}

/// Whether a row of one side may be missing on the other one by chance.
bool has_few_calls(const matched_row& matched) {
    constexpr double fewest_calls = 5;
    for (const row_in_runs* side : {&matched.before, &matched.after})
        for (const row_in_run& each : *side)
            if (each.row->calls < fewest_calls) return true;
    return false;
}

/// Whether no run has times that its clock can tell apart. A queue has a mean, which has no
/// resolution.
bool is_below_resolution(const row_in_runs& runs, times_of_row times) {
    return std::ranges::all_of(runs, [times](const row_in_run& each) {
        return each.row->kind != compared_kind::executor &&
               (each.row->*times).low_ns <= each.run->resolution_ns;
    });
}

double mean_calls(const row_in_runs& runs, bool per_request) {
    if (runs.empty()) return 0;
    double sum = 0;
    for (const row_in_run& each : runs)
        sum += per_request ? each.row->per_request : each.row->calls;
    return sum / static_cast<double>(runs.size());
}

class comparison_maker {
public:
    comparison_maker(std::span<const run_summary> before, std::span<const run_summary> after)
        : before_(before), after_(after), limits_(check_comparability(before, after)) {
        for (const run_summary& each : before) found_.before.push_back(each.title);
        for (const run_summary& each : after) found_.after.push_back(each.title);
        const auto has_requests = [](const run_summary& each) { return each.requests != 0; };
        found_.per_request =
            std::ranges::all_of(before, has_requests) && std::ranges::all_of(after, has_requests);
        if (limits_.requests_guessed) found_.per_request = false;
        found_.notes = limits_.notes;
    }

    comparison take() && {
        const std::vector<matched_row> matched = match_rows(before_, after_);
        scale_ = scale_of(matched);
        for (const matched_row& each : matched) rows_.push_back(begun(each));
        judge_all();
        for (row_in_progress& each : rows_) found_.rows.push_back(std::move(each.row));
        std::ranges::stable_sort(found_.rows, {}, [](const comparison_row& each) {
            return std::tuple(each.verdict, -std::abs(each.effect_ns), each.kind);
        });
        return std::move(found_);
    }

private:
    static double scale_of(const std::vector<matched_row>& rows) {
        std::vector<double> ratios;
        for (const matched_row& each : rows) {
            if (each.before.empty() || each.after.empty()) continue;
            compared_time measured = each.before.front().row->measured;
            const times_of_row times = chosen_times(each, measured);
            if (const auto ratio = spread_ratio(each.before, each.after, times))
                ratios.push_back(*ratio);
        }
        return common_scale(std::move(ratios));
    }

    row_in_progress begun(const matched_row& matched) const {
        row_in_progress made;
        comparison_row& row = made.row;
        const run_row& shown =
            *(matched.after.empty() ? matched.before : matched.after).front().row;
        row.kind = shown.kind;
        row.measured = shown.measured;
        row.name = shown.name;
        row.file = shown.file;
        row.line = shown.line;
        row.note = matched.note;
        row.calls_before = mean_calls(matched.before, found_.per_request);
        row.calls_after = mean_calls(matched.after, found_.per_request);
        const times_of_row times = chosen_times(matched, row.measured);
        add_times(row, matched, times);
        if (matched.before.empty() || matched.after.empty()) {
            judge_alone(row, matched);
            return made;
        }
        made.why_unclear = why_unclear(matched, times);
        if (made.why_unclear.empty())
            made.change = estimate_change(matched.before, matched.after, times, scale_);
        if (made.why_unclear.empty() && !made.change)
            made.why_unclear = row.kind == compared_kind::executor
                                   ? "one run does not show how much a queue varies"
                                   : "too few calls";
        return made;
    }

    /// Chooses between the times without and with a delay, and changes `measured` accordingly.
    static times_of_row chosen_times(const matched_row& matched, compared_time& measured) {
        if (measured == compared_time::suspended) {
            if (knows_wakes(matched.before) && knows_wakes(matched.after)) return &run_row::time;
            measured = compared_time::waiting;
            return &run_row::with_delay;
        }
        if (measured != compared_time::own ||
            shown_variance(matched.before, matched.after, &run_row::with_delay) >=
                shown_variance(matched.before, matched.after, &run_row::time))
            return &run_row::time;
        measured = compared_time::own_with_preempted;
        return &run_row::with_delay;
    }

    static void add_times(comparison_row& row, const matched_row& matched, times_of_row times) {
        const auto known = [times](const row_in_runs& runs) {
            return !runs.empty() && std::ranges::all_of(runs, [times](const row_in_run& each) {
                return (each.row->*times).count != 0;
            });
        };
        if (known(matched.before)) row.before_ns = median_low_ns(matched.before, times);
        if (known(matched.after)) row.after_ns = median_low_ns(matched.after, times);
        if (row.before_ns && row.after_ns)
            row.effect_ns =
                (*row.after_ns - *row.before_ns) * (row.calls_before + row.calls_after) / 2;
        else
            row.effect_ns = row.after_ns.value_or(0) * row.calls_after -
                            row.before_ns.value_or(0) * row.calls_before;
    }

    /// Of a row that only one side has.
    void judge_alone(comparison_row& row, const matched_row& matched) const {
        row.verdict =
            matched.after.empty() ? comparison_verdict::gone : comparison_verdict::appeared;
        const std::size_t runs = matched.after.empty() ? before_.size() : after_.size();
        const std::size_t with_row = std::max(matched.before.size(), matched.after.size());
        std::string doubt = limits_.why_no_absence;
        if (has_few_calls(matched))
            doubt = "so few calls that the other side may lack them by chance";
        if (with_row < runs) doubt = "some runs of the one side do not have it either";
        if (matched.ambiguous)
            doubt = "the number of places of this name changed, so they cannot be told apart";
        if (row.kind == compared_kind::request && limits_.requests_guessed)
            doubt = "no request is marked, and another function was guessed";
        if (doubt.empty()) return;
        row.verdict = comparison_verdict::unclear;
        row.note = fmt_side(matched) + doubt;
    }

    static std::string fmt_side(const matched_row& matched) {
        return matched.after.empty() ? "only before: " : "only after: ";
    }

    [[nodiscard]] std::string why_unclear(const matched_row& matched, times_of_row times) const {
        if (!limits_.why_no_times.empty()) return limits_.why_no_times;
        for (const row_in_runs* side : {&matched.before, &matched.after}) {
            for (const row_in_run& each : *side) {
                if ((each.row->*times).count == 0) return "a run has no whole call";
                if (may_have_lost_calls(*each.row, *each.run)) return "a trace lost records";
                if (each.row->measured != matched.before.front().row->measured)
                    return "the runs have different times of it";
            }
        }
        if (is_below_resolution(matched.before, times) && is_below_resolution(matched.after, times))
            return "its calls are as short as the resolution of the clock";
        return {};
    }

    void judge_all() {
        found_.certain_rows = static_cast<std::size_t>(std::ranges::count_if(
            rows_, [](const row_in_progress& each) { return each.change.has_value(); }));
        // Bonferroni's correction: rows of one program are not independent.
        const double tail =
            error_rate / 2 / std::max(1.0, static_cast<double>(found_.certain_rows));
        std::vector<double> halves;
        for (row_in_progress& each : rows_) {
            if (!each.change) {
                if (!each.why_unclear.empty()) each.row.note = each.why_unclear;
                add_change_alone(each.row);
                continue;
            }
            const double half = each.change->error * student_quantile(tail, each.change->freedom);
            halves.push_back(half);
            each.row.change = std::expm1(each.change->change);
            each.row.low = std::expm1(each.change->change - half);
            each.row.high = std::expm1(each.change->change + half);
            judge(each.row, *each.change);
        }
        if (halves.empty()) return;
        const auto middle = halves.begin() + static_cast<std::ptrdiff_t>(halves.size() / 2);
        std::ranges::nth_element(halves, middle);
        found_.typical_uncertainty = std::expm1(*middle);
    }

    static void add_change_alone(comparison_row& row) {
        if (row.before_ns && row.after_ns && *row.before_ns > 0)
            row.change = *row.after_ns / *row.before_ns - 1;
    }

    /// A row is the same by the interval of this row alone: with many rows, the common intervals
    /// are so wide that nothing would be the same.
    static void judge(comparison_row& row, const estimate& of) {
        const double half = of.error * student_quantile(error_rate / 2, of.freedom);
        const double low = std::expm1(of.change - half);
        const double high = std::expm1(of.change + half);
        if (low > -same_margin && high < same_margin && low <= 0 && high >= 0)
            row.verdict = comparison_verdict::same;
        if (*row.low > 0 && *row.change >= least_change) row.verdict = comparison_verdict::slower;
        if (*row.high < 0 && *row.change <= -least_change) row.verdict = comparison_verdict::faster;
    }

    std::span<const run_summary> before_;
    std::span<const run_summary> after_;
    comparability limits_;
    double scale_ = 1;
    comparison found_;
    std::vector<row_in_progress> rows_;
};

}  // namespace

std::string_view name_of(compared_kind kind) noexcept {
    switch (kind) {
        case compared_kind::scope: return "scope";
        case compared_kind::await: return "await";
        case compared_kind::executor: return "executor";
        case compared_kind::request: return "request";
    }
    return "scope";
}

std::string_view name_of(compared_time time) noexcept {
    switch (time) {
        case compared_time::own: return "own";
        case compared_time::own_with_preempted: return "own_with_preempted";
        case compared_time::length: return "length";
        case compared_time::suspended: return "suspended";
        case compared_time::waiting: return "waiting";
        case compared_time::queued: return "queued";
        case compared_time::wall: return "wall";
    }
    return "own";
}

std::string_view name_of(comparison_verdict verdict) noexcept {
    switch (verdict) {
        case comparison_verdict::slower: return "slower";
        case comparison_verdict::faster: return "faster";
        case comparison_verdict::same: return "same";
        case comparison_verdict::unclear: return "unclear";
        case comparison_verdict::appeared: return "new";
        case comparison_verdict::gone: return "gone";
    }
    return "unclear";
}

std::size_t comparison::count(comparison_verdict verdict) const noexcept {
    return static_cast<std::size_t>(std::ranges::count(rows, verdict, &comparison_row::verdict));
}

comparison compare_runs(std::span<const run_summary> before, std::span<const run_summary> after) {
    return comparison_maker(before, after).take();
}

}  // namespace coroscope::analysis
