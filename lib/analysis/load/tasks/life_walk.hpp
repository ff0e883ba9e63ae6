// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides a task's wall time into parts, from its slices and awaits. The parts are not kept: a walk
// finds them again, from the beginning of the task's life or from a state of an earlier walk.

#include <cstdint>
#include <tuple>

#include "known_span.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

enum class life_part_kind : std::uint8_t { running, suspended, queued, waiting };

/// The time of a slice in which other slices were nested in it.
struct nested_time {
    std::int64_t nested_ns = 0;
};

/// The state of a walk: a moment of the task's wall time, and the sums of the parts before it.
struct life_state {
    std::int64_t now_ns = 0;
    std::int64_t running_ns = 0, suspended_ns = 0, queued_ns = 0;
    std::int64_t own_ns = 0;       ///< running time without nested slices of other tasks
    std::uint32_t next_slice = 0;  ///< index into trace::slices
    std::uint32_t next_await = 0;  ///< position in the task's awaits
    bool is_queued = true;         ///< until the task's first run
};

}  // namespace coroscope::analysis::inline tasks

namespace coroscope::analysis {

template <>
struct packed_columns<nested_time> {
    using type = std::tuple<packed_member<&nested_time::nested_ns>>;
};

template <>
struct packed_columns<life_state> {
    using type =
        std::tuple<packed_member<&life_state::now_ns>, packed_member<&life_state::running_ns>,
                   packed_member<&life_state::suspended_ns>, packed_member<&life_state::queued_ns>,
                   packed_member<&life_state::own_ns>, packed_member<&life_state::next_slice>,
                   packed_member<&life_state::next_await>, packed_member<&life_state::is_queued>>;
};

}  // namespace coroscope::analysis

namespace coroscope::analysis::inline tasks {

class life_walk {
public:
    /// A stretch of the task's wall time.
    struct part {
        std::int64_t end_ns = 0;
        std::uint32_t slice = none;  ///< of a running part: index into trace::slices
        life_part_kind kind = life_part_kind::waiting;
    };

    /// `task` has a first wake and its slices and awaits; it need not be in `loaded`. `is_queued`:
    /// whether the task counts as queued from its first wake to its first run.
    life_walk(const trace& loaded, const packed_list<nested_time>& nested, const task_info& task,
              bool is_queued);

    /// Goes on from a state of the same task.
    void go_on_from(const life_state& state) { state_ = state; }

    /// Walks to the end of the task's wall time. Calls `keep(state)` before each slice.
    template <class Keep>
    void to_end(Keep keep) {
        while (state_.next_slice < end_slice_) {
            keep(state_);
            if (step()) return;
        }
        finish();
    }

    /// Walks to the beginning of the part that contains `time_ns`, else to that of the last part.
    /// Returns whether the walk had any part; then part() is the one that it found.
    bool to_part_at(std::int64_t time_ns);

    [[nodiscard]] const life_state& state() const { return state_; }
    [[nodiscard]] const part& last_part() const { return last_; }
    [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }

    /// Running time of a slice without nested slices of other tasks.
    [[nodiscard]] static std::int64_t own_of(const slice& run, const nested_time& nested) {
        return run.end_ns - run.start_ns - nested.nested_ns;
    }

private:
    bool step();
    bool finish() { return fill_gap(end_ns_); }
    bool fill_gap(std::int64_t to_ns);
    bool advance(life_part_kind kind, std::int64_t to_ns, std::uint32_t slice_index,
                 std::int64_t own_ns);
    [[nodiscard]] life_part_kind uncovered() const;

    const trace& loaded_;
    const packed_list<nested_time>& nested_;
    index_range awaits_;
    bool is_suspended_;  // at the end of the session
    std::uint32_t end_slice_ = 0;
    std::int64_t end_ns_ = 0;
    std::int64_t sought_ns_ = known_span::for_ever;
    life_state state_;
    life_state before_;  // before the last part
    part last_;
    bool any_ = false;  // there was a part
};

/// Returns whether the task may have run, unrecorded, between its first wake, which is known, and
/// its first recorded run.
[[nodiscard]] bool may_have_run(const trace& loaded, const known_span& known,
                                const task_info& task);

}  // namespace coroscope::analysis::inline tasks
