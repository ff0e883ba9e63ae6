// SPDX-License-Identifier: Apache-2.0
#pragma once

// The threads that serve the queues of executors.

#include <cstdint>
#include <span>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline executor_answers {

/// A thread from its first job of an executor to the end of its last one.
struct serving_thread {
    std::uint32_t thread = none;
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
};

/// A job of a strand.
struct strand_run {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    std::uint32_t thread = none;
};

class executor_threads {
public:
    explicit executor_threads(const trace& loaded);

    /// Returns the threads that ran jobs of the executor; for a strand, also those of its inner
    /// executor. Empty if `executor` is none.
    [[nodiscard]] std::span<const serving_thread> of(std::uint32_t executor) const;

    /// Returns the jobs of a strand by start, of which one runs at a time. Empty for another
    /// executor.
    [[nodiscard]] std::span<const strand_run> jobs_of_strand(std::uint32_t executor) const;

private:
    std::vector<std::vector<serving_thread>> threads_;  // by executor
    std::vector<std::vector<strand_run>> jobs_;         // by executor
};

}  // namespace coroscope::analysis::inline executor_answers
