// SPDX-License-Identifier: Apache-2.0
#pragma once

// What devices did for tasks: the work that each asked for, and the work that explains its suspensions.
//
//     const device_coverage coverage(*loaded);
//     const device_share share = coverage.of(await);     // share.covered_ns of the await's suspension
//
// Plain values and pure functions; safe on any thread. They throw std::bad_alloc.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Work of one kind.
struct device_part {
    std::uint64_t count = 0;
    std::int64_t total_ns = 0;  ///< whole lengths
};

/// Kernels, copies and sets, each counted once.
struct device_work {
    device_part kernels, copies, sets;
    std::uint32_t longest = none;  ///< the longest kernel: index into trace::device_activities
    std::vector<std::uint32_t> streams;  ///< that were waited for, ascending; each once
    std::uint64_t unknown = 0;           ///< waits for a stream that nobody knows

    [[nodiscard]] bool empty() const {
        return kernels.count + copies.count + sets.count + streams.size() + unknown == 0;
    }
    [[nodiscard]] std::int64_t total_ns() const {
        return kernels.total_ns + copies.total_ns + sets.total_ns;
    }
};

/// What the streams of an await did while it was suspended, up to its wake, or to its resume where nobody saw that. Or
/// what a range asked of its stream.
struct device_share {
    std::uint32_t waits =
        0;  ///< streams that were waited for; 0: none is known, and all else is unknown, too
    std::uint32_t unknown =
        0;  ///< waits for streams that nobody knows: what is said here is not all
    std::int64_t covered_ns = 0;  ///< of the time: some stream ran what was waited for
    /// Of the time: none ran any of that, and a kernel of it was in the device's queue and did not wait for its own
    /// stream. None: the trace does not know when kernels were queued.
    optional_ns queued_ns;
    optional_ns start_ns;  ///< of the first that was waited for, perhaps before the suspension
    optional_ns end_ns;    ///< of the last
};

/// Answers for one stream in logarithmic time, however many waits overlap; for several in that of what they did
/// meanwhile, up to most_united things: beyond that, covered_ns and queued_ns are of the busiest. Keeps a reference to
/// the trace.
class COROSCOPE_API device_coverage {
public:
    static constexpr std::size_t most_united = 10'000;

    explicit device_coverage(const trace& loaded);

    /// `await`: index into trace::awaits.
    [[nodiscard]] device_share of(std::uint32_t await) const;

    /// `range`: index into trace::device_ranges. In linear time; none of what others asked of the stream is its own.
    [[nodiscard]] device_share of_range(std::uint32_t range) const;

private:
    struct sums {  // of a stream, up to and with an activity
        std::int64_t busy_ns = 0;
        std::int64_t queued_ns = 0;
        std::int64_t latest_end_ns = 0;
        std::uint32_t first = 0;  // position of the stream's first activity
        std::uint32_t kernels_with_queue = 0;
    };
    struct until {
        std::int64_t busy_ns = 0;
        std::int64_t queued_ns = 0;
    };
    struct stretch {
        std::int64_t start_ns = 0;
        std::int64_t end_ns = 0;
    };
    class stretches;
    [[nodiscard]] const device_activity& activity(std::size_t position) const;
    [[nodiscard]] bool goes_on(std::size_t position) const;
    [[nodiscard]] std::int64_t queue_began(std::size_t position) const;
    [[nodiscard]] stretch queued(std::size_t position) const;
    [[nodiscard]] bool knows(const index_range& positions) const;
    [[nodiscard]] until until_moment(const index_range& positions, std::int64_t time_ns) const;
    void add(device_share& share, const index_range& positions, const stretch& within) const;
    void unite(device_share& share, std::uint32_t await, const stretch& within) const;

    const trace& loaded_;
    std::vector<sums> sums_;  // by position in trace::stream_order
};

/// What the waits of an await, an index into trace::awaits, were for.
[[nodiscard]] COROSCOPE_API device_work awaited_work(const trace& loaded, std::uint32_t await);

/// The same of several waits (positions in trace::device_waits); what more than one waited for counts once.
[[nodiscard]] COROSCOPE_API device_work awaited_work(const trace& loaded,
                                                     std::vector<std::uint32_t> waits);

/// What a range, an index into trace::device_ranges, asked its stream for.
[[nodiscard]] COROSCOPE_API device_work work_of_range(const trace& loaded, std::uint32_t range);

/// What a task, an index into trace::tasks, asked for; without streams.
[[nodiscard]] COROSCOPE_API device_work work_of_task(const trace& loaded, std::uint32_t task);

/// Time on devices that each task asked for, by index into trace::tasks; empty where nothing ran on one.
[[nodiscard]] COROSCOPE_API std::vector<std::int64_t> device_time_of_tasks(const trace& loaded);

/// The name that a stream has; empty where it has none.
[[nodiscard]] COROSCOPE_API std::string_view stream_name(const trace& loaded, std::uint32_t context,
                                                         std::uint32_t stream);

/// "stream 7", or "stream 7 (uploads)" where it has a name; "no stream" of none.
[[nodiscard]] COROSCOPE_API std::string stream_text(const trace& loaded, std::uint32_t context,
                                                    std::uint32_t stream);

}  // namespace coroscope::analysis
