// SPDX-License-Identifier: Apache-2.0
#pragma once

// The waiting of tasks: by await site, and by the chain of awaits from a root task to the innermost
// await.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Durations of awaits, by the recorded facts about them.
struct await_times {
    std::uint64_t count = 0;
    /// Neither the wake, if there was one, nor the waker is known: their time is in waiting_ns.
    std::uint64_t unknown_wakes = 0;
    std::uint64_t unfinished = 0;  ///< not resumed when the session ended: their time up to the end
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;
    std::uint64_t device_waits = 0;  ///< awaits of streams
    std::int64_t device_ns = 0;      ///< part of their suspension in which the streams ran work
    /// Part of it in which the streams ran nothing and kernels were queued; none: unknown.
    optional_ns device_queued_ns{};
    /// The waker is known, but not the time of its wake: their time is in waiting_ns, too.
    std::uint64_t wakes_by_resume = 0;
    /// Awaits that are over, by trace::await_outcome.
    std::array<std::uint64_t, 5> outcomes{};
    /// Wakes of which the time is an upper bound (wake_reason::noticed): queued_ns is at least, and
    /// suspended_ns at most, that of these awaits.
    std::uint64_t noticed_wakes = 0;
    /// Began before the session, or had not ended at its stop: the times are lower bounds.
    std::uint64_t partial = 0;

    [[nodiscard]] std::uint64_t ended_by(coroscope::trace::await_outcome outcome) const {
        return outcomes[static_cast<std::size_t>(outcome)];
    }
    [[nodiscard]] std::int64_t total_ns() const {
        return analysis::saturated_sum(analysis::saturated_sum(suspended_ns, queued_ns),
                                       waiting_ns);
    }
};

/// Returns the division of one await's time. An await that was never resumed ends with its task,
/// else with the session.
[[nodiscard]] COROSCOPE_API time_split split_of(const trace& loaded, const await_info& await);

/// All awaits at one place in the source. An await without a place, in which a task resumed another
/// task in place, counts at the spawn site of the resumed task.
struct await_site_statistics {
    std::uint32_t site = none;  ///< index into trace::sites
    std::string name;           ///< the site's label, else its function; "unknown" without a site
    await_times times;
    percentiles length;   ///< suspend to resume, of awaits that were resumed and are not partial
    device_work devices;  ///< the work of the awaited streams
    /// The distinct objects that were awaited, ascending: indices into trace::objects. If objects
    /// had the same address one after the other, they are one.
    std::vector<std::uint32_t> objects;
};

/// Returns whether the outcome of an await is known.
[[nodiscard]] COROSCOPE_API bool knows_outcomes(const trace& loaded);

/// Returns one entry per await site, the longest total first.
COROSCOPE_API std::vector<await_site_statistics> await_statistics(const trace& loaded);

/// Awaits that were reached in the same way. `sites` goes from the root inwards and alternates: the
/// root task's spawn site, the place of its await, the spawn site of the awaited task, the place of
/// that task's await, and so on to the innermost await. Only innermost awaits count, so the chains'
/// times add up without counting a wait twice. `none` is an unknown site.
struct await_chain {
    std::vector<std::uint32_t> sites;  ///< indices into trace::sites
    await_times times;
};

/// Returns one entry per chain, the longest total first.
COROSCOPE_API std::vector<await_chain> await_chains(const trace& loaded);

}  // namespace coroscope::analysis
