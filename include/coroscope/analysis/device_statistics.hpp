// SPDX-License-Identifier: Apache-2.0
#pragma once

// Device work of tasks: the work that each task requested, and the work that explains its
// suspensions.
//
//     const device_coverage coverage(*loaded);
//     const device_share share = coverage.of(await);  // share.covered_ns of the suspension
//
// Plain values and pure functions, safe on any thread. They throw std::bad_alloc.

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
    std::int64_t total_ns = 0;  ///< sum of whole lengths
};

/// Kernels, copies and sets, each counted once.
struct device_work {
    device_part kernels, copies, sets;
    std::uint32_t longest = none;  ///< the longest kernel: index into trace::device_activities
    std::vector<std::uint32_t> streams;  ///< the streams that were waited for, ascending, each once
    std::uint64_t unknown = 0;           ///< waits for an unknown stream

    [[nodiscard]] bool empty() const {
        return kernels.count + copies.count + sets.count + streams.size() + unknown == 0;
    }
    [[nodiscard]] std::int64_t total_ns() const {
        return kernels.total_ns + copies.total_ns + sets.total_ns;
    }
};

/// Device times of an await or a range. Of an await: the activities of its streams during the
/// suspension, up to its wake, or to its resume if the wake is unknown. Of a range: the work that
/// it requested of its stream.
struct device_share {
    /// Streams that were waited for. 0: none is known, and all other members are unknown.
    std::uint32_t waits = 0;
    /// Waits for unknown streams: the other members are then incomplete.
    std::uint32_t unknown = 0;
    std::int64_t covered_ns = 0;  ///< part of the time in which some stream ran awaited work
    /// Part of the time in which no stream ran awaited work, but a kernel of it was in the device's
    /// queue and did not wait for its own stream. None: the trace has no queue times of kernels.
    optional_ns queued_ns;
    optional_ns start_ns;  ///< of the first awaited activity, perhaps before the suspension
    optional_ns end_ns;    ///< of the last one
};

/// Answers for one stream in logarithmic time, however many waits overlap. For several streams, the
/// time is that of their activities in the interval, up to most_united activities. Beyond that,
/// covered_ns and queued_ns are those of the busiest stream. Keeps a reference to the trace, which
/// must outlive it.
class COROSCOPE_API device_coverage {
public:
    static constexpr std::size_t most_united = 10'000;

    /// `loaded` must outlive the object, and must not change while it is used.
    explicit device_coverage(const trace& loaded);

    /// `await`: index into trace::awaits.
    [[nodiscard]] device_share of(std::uint32_t await) const;

    /// `range`: index into trace::device_ranges. Takes linear time. Work that others requested of
    /// the stream does not count.
    [[nodiscard]] device_share of_range(std::uint32_t range) const;

private:
    struct sums {  // of a stream, up to and including an activity
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

/// Returns the work that the waits of an await waited for. `await`: index into trace::awaits.
[[nodiscard]] COROSCOPE_API device_work awaited_work(const trace& loaded, std::uint32_t await);

/// As above, for several waits (positions in trace::device_waits). Work that several of them waited
/// for counts once.
[[nodiscard]] COROSCOPE_API device_work awaited_work(const trace& loaded,
                                                     std::vector<std::uint32_t> waits);

/// Returns the work that a range requested of its stream. `range`: index into trace::device_ranges.
[[nodiscard]] COROSCOPE_API device_work work_of_range(const trace& loaded, std::uint32_t range);

/// Returns the work that a task requested, without streams. `task`: index into trace::tasks.
[[nodiscard]] COROSCOPE_API device_work work_of_task(const trace& loaded, std::uint32_t task);

/// Returns the device time of the work that each task requested, by index into trace::tasks; empty
/// if nothing ran on a device.
[[nodiscard]] COROSCOPE_API std::vector<std::int64_t> device_time_of_tasks(const trace& loaded);

/// Returns the name of a stream; empty if it has none.
[[nodiscard]] COROSCOPE_API std::string_view stream_name(const trace& loaded, std::uint32_t context,
                                                         std::uint32_t stream);

/// Returns "stream 7", or "stream 7 (uploads)" if it has a name; "no stream" if there is none.
[[nodiscard]] COROSCOPE_API std::string stream_text(const trace& loaded, std::uint32_t context,
                                                    std::uint32_t stream);

}  // namespace coroscope::analysis
