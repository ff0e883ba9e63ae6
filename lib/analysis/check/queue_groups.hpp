// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work behind which requests were queued, by executor and kind of job.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "check_input.hpp"
#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// The rule that describes the work ahead of queued requests.
enum class queue_fault : std::uint8_t {
    none,
    hot_strand,
    blocking_call,
    long_computation,
    head_of_line,
    priority_inversion,
    executor_too_small,
    periodic_pauses,
};

/// The runs of one kind of job, behind which requests were queued for one executor.
struct queue_group {
    std::uint32_t executor = none;  ///< index into trace::executors; none: unknown
    std::uint32_t kind = none;      ///< check_input::kind_of()
    queue_fault fault = queue_fault::none;
    victim_sums victims;
    place_sums causes;
    evidence_list evidence;
    std::int64_t same_ns = 0;          ///< the part that delayed jobs of the same kind
    std::set<std::uint32_t> runs;      ///< indices into trace::slices
    std::set<std::uint32_t> tasks;     ///< that ran
    std::int64_t weighted_run_ns = 0;  ///< length of the run behind which the time was spent
    std::int64_t longest_run_ns = 0;
    std::uint64_t long_runs = 0;         ///< runs of at least a millisecond
    state_times states;                  ///< of these runs, each once
    std::int64_t other_calls_ns = 0;     ///< of it, blocked in calls that wait for no lock
    std::vector<std::int64_t> own_runs;  ///< the next runs of the delayed jobs
    std::uint64_t blockers = 0;          ///< sum over waits of the number of tasks ahead
    std::uint64_t waits = 0;             ///< number of different queued times
    std::int64_t period_ns = 0;          ///< of a task with regular runs; 0: none
    std::uint64_t periods = 0;           ///< the number of these runs
    std::uint32_t threads = 0;           ///< of the executor

    /// Whether the runs were blocked for longer than they had a processor.
    [[nodiscard]] bool is_blocked() const { return states.blocked_ns > states.on_cpu_ns; }

    /// Whether the runs may have waited for a lock for most of their time.
    [[nodiscard]] bool may_wait_for_lock() const {
        return states.blocked_ns - other_calls_ns > states.on_cpu_ns + other_calls_ns;
    }
};

/// Returns the groups with their faults, the largest time first. Groups that are not worth a
/// finding have no fault.
[[nodiscard]] std::vector<queue_group> queue_groups_of(check_input& input);

}  // namespace coroscope::analysis::inline checks
