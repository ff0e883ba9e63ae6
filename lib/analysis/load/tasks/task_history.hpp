// SPDX-License-Identifier: Apache-2.0
#pragma once

// The life of each task, put together from the records of all threads: its awaits, and its wall
// time divided into running, suspended, queued and waiting without a gap and without an overlap.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../records/task_records.hpp"
#include "hand_overs.hpp"
#include "known_span.hpp"
#include "life_walk.hpp"
#include "thread_timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

/// The parts of a stretch of a task's time, and its own time: the running time without nested
/// slices of other tasks.
struct owned_split {
    time_split time;
    std::int64_t own_ns = 0;
};

class task_histories {
public:
    /// Fills tasks, slices and awaits of `loaded`, whose duration is known. `timelines` are by
    /// stream; takes their slices and hand-overs.
    task_histories(const task_records& records, std::vector<timeline>& timelines, trace& loaded);

    /// Returns the parts of the task's time between two times. Time outside its wall time counts as
    /// waiting.
    [[nodiscard]] owned_split between(std::uint32_t task, std::int64_t from_ns,
                                      std::int64_t to_ns) const;

    /// Returns whether a slice of the task contains or touches `time_ns`.
    [[nodiscard]] bool runs_at(std::uint32_t task, std::int64_t time_ns) const;

    /// The thread that destroyed the suspended task: index into trace::threads; none if it was not
    /// destroyed while suspended.
    [[nodiscard]] std::uint32_t destroying_thread(std::uint32_t task) const {
        return destroyed_on_[task];
    }

    /// The tasks that no wake shows to be awaited, by their ends.
    [[nodiscard]] std::span<const presumed_task> presumed() const { return presumed_; }

private:
    friend class history_builder;
    struct sums {
        std::int64_t running_ns = 0, suspended_ns = 0, queued_ns = 0, own_ns = 0;
    };
    [[nodiscard]] sums until(std::uint32_t task, std::int64_t time_ns) const;
    [[nodiscard]] std::optional<life_state> kept_before(const task_info& task,
                                                        std::int64_t time_ns) const;
    [[nodiscard]] std::int64_t own_within(const slice& run, std::int64_t length_ns,
                                          std::int64_t own_ns, std::int64_t time_ns) const;

    const trace& loaded_;
    known_span known_;
    std::vector<const timeline*>
        timelines_;                    // by thread index; null for a thread without a timeline
    packed_list<nested_time> nested_;  // by slice
    packed_list<life_state> kept_;     // by next_slice
    std::vector<std::uint32_t> destroyed_on_;  // by task
    std::vector<presumed_task> presumed_;
};

}  // namespace coroscope::analysis::inline tasks
