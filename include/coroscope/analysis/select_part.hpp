// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects a part of a loaded trace: a stretch of its time, or the work that meets conditions. Every
// answer about the result is an answer about the part. docs/decisions/0066-parts.md has the
// reasons.
//
// A stretch reads like a session that started at `from` and stopped at `to`: its times count from
// `from`, and only the time within it is counted. What began before is clipped, what ended later is
// unfinished. Beside such a session, the part has the names of all that was open at `from`.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// A condition on work. The pattern must match the whole text: '*' stands for any characters, '?'
/// for one.
struct work_condition {
    /// The attribute whose value the pattern must match; empty: the name of a scope, a task or a
    /// request must match it.
    std::string attribute{};
    std::string pattern{};
};

struct part_choice {
    optional_ns from_ns{};  ///< since the start of the trace; none: its start
    optional_ns to_ns{};    ///< none: its end
    std::vector<work_condition> where{};

    [[nodiscard]] bool has_stretch() const noexcept { return from_ns || to_ns; }
    [[nodiscard]] bool any() const noexcept { return has_stretch() || !where.empty(); }
};

/// Reads a time such as "1.5s", "20ms", "3us" or "7ns", exactly, in nanoseconds. Fails if the unit
/// is missing, or the time is negative, or less than a nanosecond is named.
COROSCOPE_API result<std::int64_t> read_part_time(std::string_view text);

/// Reads conditions that are separated by spaces: "name=db.* attr:tenant=7". A word without '='
/// belongs to the pattern before it: "name=GET /item".
COROSCOPE_API result<std::vector<work_condition>> read_work_conditions(std::string_view text);

/// Returns the part. All conditions must hold for one scope or task. A scope is selected if it or
/// a scope around it meets them, or if its task is selected. A task is selected with all below it
/// if it meets them, or if a selected task or scope spawned or awaited it. Any other task with a
/// selected scope keeps its slices, and of its scopes and awaits those that are selected.
///
/// Fails if the stretch is empty or begins after the end of the trace. Needs the scopes of the
/// trace: of one that was loaded without them, `where` selects less.
COROSCOPE_API result<trace> select_part(trace whole, const part_choice& choice);

/// Leaves all but trace::requests as it is, so that the causes of their waits stay in the trace.
/// Keeps the requests that meet the conditions themselves. Fails if the program marked no request,
/// or if none meets them.
COROSCOPE_API result<trace> select_requests(trace whole, const std::vector<work_condition>& where);

}  // namespace coroscope::analysis
