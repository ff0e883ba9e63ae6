// SPDX-License-Identifier: Apache-2.0
#pragma once

// The life of each task, put together from the records of all threads: its awaits, and its wall time
// divided into running, suspended, queued and waiting without a gap and without an overlap.

#include <cstdint>
#include <span>
#include <vector>

#include "task_records.hpp"
#include "thread_timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

enum class segment_kind : std::uint8_t { running, suspended, queued, waiting };

/// A stretch of a task's wall time, up to the next segment of the task, and the sums before it.
struct segment {
    std::int64_t start_ns = 0;
    std::int64_t running_before_ns = 0;
    std::int64_t suspended_before_ns = 0;
    std::int64_t queued_before_ns = 0;
    std::int64_t own_before_ns = 0;
    std::uint32_t slice = none;  ///< of running segments: index into trace::slices
    segment_kind kind = segment_kind::waiting;
};

/// What a stretch of a task's time was, and how much of its running was the task's own.
struct owned_split {
    time_split time;
    std::int64_t own_ns = 0;
};

class task_histories {
public:
    /// Fills tasks, slices and awaits of `loaded`, whose duration is known. `timelines` are by stream.
    task_histories(const task_records& records, const std::vector<timeline>& timelines,
                   trace& loaded);

    /// The task's time between two moments. What lies outside its wall time is waiting.
    [[nodiscard]] owned_split between(std::uint32_t task, std::int64_t from_ns,
                                      std::int64_t to_ns) const;

    /// Whether the task has a slice around or at `time_ns`.
    [[nodiscard]] bool runs_at(std::uint32_t task, std::int64_t time_ns) const;

    /// Index into trace::threads where the task was destroyed while suspended; else none.
    [[nodiscard]] std::uint32_t destroying_thread(std::uint32_t task) const {
        return destroyed_on_[task];
    }

private:
    friend class history_builder;
    struct sums {
        std::int64_t running_ns = 0, suspended_ns = 0, queued_ns = 0, own_ns = 0;
    };
    [[nodiscard]] sums until(std::uint32_t task, std::int64_t time_ns) const;
    [[nodiscard]] std::span<const segment> segments_of(std::uint32_t task) const;
    [[nodiscard]] std::int64_t own_within(const slice& run, std::int64_t length_ns,
                                          std::int64_t own_ns, std::int64_t time_ns) const;

    const trace& loaded_;
    std::vector<const timeline*> timelines_;  // by thread index; null where a thread has none
    std::vector<segment> segments_;
    std::vector<std::uint32_t> first_segment_;  // by task, and one more for the end
    std::vector<std::int64_t> own_ns_;          // by slice
    std::vector<std::uint32_t> destroyed_on_;   // by task
};

}  // namespace coroscope::analysis::loading
