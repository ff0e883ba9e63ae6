// SPDX-License-Identifier: Apache-2.0
#pragma once

// Findings: named causes of lost request time, ranked by their cost.
//
// Each rule looks for one kind of cause. A rule whose facts are missing does not run, and the
// result lists it. The cost of a finding is the time of requests that its cause explains. Most
// rules ignore a cause that costs less than 1 ms, or less than 5 % of the request time.
//
// If no request is marked, check() guesses requests as requests_of() does. If it can guess none,
// each whole task counts as a request.
//
// model.hpp describes times and indices. Thread-safety: pure functions, safe on any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The weight of a finding.
enum class finding_severity : std::uint8_t {
    note,     ///< a hint: the trace does not prove that it is a fault
    warning,  ///< it costs request time
    error,    ///< a fault, whatever the load
};

/// "note", "warning", "error".
[[nodiscard]] COROSCOPE_API std::string_view name_of(finding_severity severity) noexcept;

/// A rule. All texts are static.
struct finding_rule {
    std::string_view id;  ///< "blocking-call"
    std::string_view title;
    finding_severity severity = finding_severity::warning;
    std::string_view meaning;    ///< the cause that the rule looks for
    std::string_view threshold;  ///< the conditions
    std::string_view needs;      ///< the facts; empty: every trace has them
    std::string_view advice;     ///< what to try
    std::string_view doubts;     ///< when the rule is wrong
};

/// Returns all rules, in the order of docs/reference/findings.md.
[[nodiscard]] COROSCOPE_API std::span<const finding_rule> finding_rules() noexcept;

/// Returns the rule with that id, or a null pointer.
[[nodiscard]] COROSCOPE_API const finding_rule* find_rule(std::string_view id) noexcept;

/// Work or a wait of the program, by name and place.
struct finding_place {
    std::string label;          ///< of the scope, the await, the task or the resource
    std::uint32_t site = none;  ///< index into trace::sites; none: the place is unknown
};

/// The work that a cause delayed.
struct finding_victim {
    finding_place place;
    std::uint64_t count = 0;   ///< the number of delayed requests; without requests, of tasks
    std::int64_t time_ns = 0;  ///< the part of their time that the cause explains
};

/// One moment that shows the finding. An index that does not apply is `none`.
struct finding_evidence {
    std::string text{};           ///< "occupied the thread"
    finding_place place{};        ///< the place of the work or the wait
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint32_t thread = none;  ///< index into trace::threads
    std::uint32_t await = none;   ///< index into trace::awaits
    std::uint64_t request = 0;    ///< id of the delayed request; 0: none
    std::int64_t start_ns = 0;
    std::int64_t length_ns = 0;
};

/// One finding.
struct finding {
    const finding_rule* rule = nullptr;  ///< never null in a result
    finding_severity severity = finding_severity::warning;
    std::string title;  ///< one sentence with the cause, the victims and the cost
    finding_place cause;
    std::vector<finding_victim> victims;     ///< the largest time first, at most five
    std::uint64_t count = 0;                 ///< the number of times that the cause was seen
    std::int64_t cost_ns = 0;                ///< the request time that the cause explains
    double share = 0;                        ///< `cost_ns` as a part of all request time, 0 to 1
    std::vector<finding_evidence> evidence;  ///< the most expensive moments, at most five
    std::vector<std::string> explanation;    ///< two lines
};

/// A rule that could not run.
struct rule_not_run {
    const finding_rule* rule = nullptr;
    std::string needs;  ///< the missing facts, and how to record them
};

/// The unit of the costs.
enum class finding_basis : std::uint8_t { marked_requests, guessed_requests, tasks };

/// The result of all rules.
struct findings {
    std::vector<finding> found;  ///< sorted by cost, the highest first
    std::vector<rule_not_run> not_run;
    finding_basis basis = finding_basis::tasks;
    std::uint64_t requests = 0;   ///< whole requests whose critical paths were followed
    std::int64_t request_ns = 0;  ///< the sum of the wall times of these requests
    /// The part of `request_ns` in which a thread had work, but no processor. No rule explains this
    /// time.
    std::int64_t machine_ns = 0;
    /// The part of `request_ns` in which a task was queued for a thread that ran no recorded task.
    /// The thread had just been woken, had no processor, or did work that is not recorded. No rule
    /// explains this time.
    std::int64_t idle_ns = 0;
    /// The number of all whole requests. If check() followed fewer of them, these were chosen
    /// evenly, and all counts and costs are those of the followed ones.
    std::uint64_t whole_requests = 0;
};

/// Limits of the requests whose paths check() follows. So many show the same as all, in a fraction
/// of the time.
struct check_options {
    std::size_t most_requests = 20'000;
    /// No path is begun after so many segments and waits of paths in all. The path of a request
    /// that waits for a lock behind a thousand others has one for each of them.
    std::size_t most_segments = 8'000'000;
};

/// Runs all rules. Takes O(n log n) steps for n records, and steps in proportion to the paths.
[[nodiscard]] COROSCOPE_API findings check(const trace& loaded);
/// The same with other limits.
[[nodiscard]] COROSCOPE_API findings check(const trace& loaded, const check_options& options);

}  // namespace coroscope::analysis
