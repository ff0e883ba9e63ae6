// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model's part for devices: their activities, and the waits and ranges that depend on these.
// model.hpp describes times, unknown values and thread-safety.

#include <cstdint>
#include <string>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::analysis {

struct device_info {
    std::uint32_t id = 0;  ///< its index on the machine
    std::string name;
};

struct device_stream {
    std::uint32_t context = none;
    std::uint32_t stream = none;
    std::string name;
};

/// One activity of a device, or the call into its runtime or driver that requested an activity.
struct device_activity {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    optional_ns queued_ns;   ///< of a kernel: when it reached the device's queue
    std::int64_t bytes = 0;  ///< copied, set, allocated or released
    std::uint64_t address = 0;
    std::uint32_t name = none;     ///< index into trace::strings
    std::uint32_t device = none;   ///< index into trace::devices
    std::uint32_t context = none;  ///< none: unknown
    std::uint32_t stream = none;   ///< none: unknown
    std::uint32_t task = none;     ///< the task that requested it: index into trace::tasks
    /// The thread of a call, or of a synchronisation, allocation or release: index into
    /// trace::threads. `none` for work that ran on a device.
    std::uint32_t thread = none;
    std::uint32_t call = none;  ///< the call that requested it: index into trace::device_activities
    std::uint32_t event = none;  ///< innermost scope around the call: index into trace::events
    /// The same number in a call and in the work that it requested. A number may be reused.
    std::uint32_t correlation = 0;
    coroscope::trace::device_activity what{};
};

/// A suspension that waited for work of a stream. The stream is one of these: the awaited stream,
/// the stream of the awaited event, or a stream that either of those had been made to wait for.
struct device_wait {
    std::int64_t time_ns = 0;
    std::uint32_t task = none;   ///< index into trace::tasks
    std::uint32_t await = none;  ///< index into trace::awaits; none: the task did not suspend
    std::uint32_t context = none;
    std::uint32_t stream = none;  ///< none: unknown
    /// For a wait for an event: the call that recorded the event. The await waited for the work
    /// requested before that call. Index into trace::device_activities.
    std::uint32_t call = none;
    std::uint32_t correlation = 0;  ///< of that call
    bool is_event = false;
    bool is_indirect = false;  ///< another stream of the await was made to wait for it
    /// Positions in trace::stream_order of the awaited work that ran during the suspension. An
    /// activity that ended before the suspension may be among them, if it comes after an activity
    /// that ended later.
    index_range activities;
};

/// A dependency between streams: one stream must wait for work of another, up to a recorded event.
struct device_dependency {
    std::int64_t time_ns = 0;  ///< of the call that made it wait
    std::uint32_t context = none;
    std::uint32_t stream = none;
    std::uint32_t awaited_context = none;
    std::uint32_t awaited_stream = none;  ///< none: unknown
    /// Time of the call that recorded the event. The stream waits for the work requested before
    /// that call.
    std::int64_t recorded_ns = 0;
};

/// A range that ended when a device's stream reached a given point.
struct device_range {
    std::uint32_t name = none;    ///< index into trace::strings
    std::uint32_t task = none;    ///< the task in which it began: index into trace::tasks
    std::uint32_t thread = none;  ///< the thread on which it began: index into trace::threads
    std::uint32_t event = none;   ///< index into trace::events
    std::int64_t start_ns = 0;
    std::int64_t attached_ns = 0;  ///< when it was tied to the stream
    optional_ns end_ns;            ///< none: it did not end while the session ran
    std::uint32_t context = none;
    std::uint32_t stream = none;  ///< none: unknown
    /// Positions in trace::range_work of the range's work on that stream, requested between the
    /// start of the range and `attached_ns`. The requester is the range's task or a task that it
    /// spawned in the range. For a range outside tasks, the requester is the range's thread.
    index_range work;
};

/// Returns whether the activity is a call into the runtime or the driver.
[[nodiscard]] constexpr bool is_call(coroscope::trace::device_activity what) {
    return what == coroscope::trace::device_activity::runtime_call ||
           what == coroscope::trace::device_activity::driver_call;
}

/// Returns whether the activity is work of the device itself: a kernel, a copy or a set.
[[nodiscard]] constexpr bool is_device_work(coroscope::trace::device_activity what) {
    return what >= coroscope::trace::device_activity::kernel &&
           what <= coroscope::trace::device_activity::set;
}

}  // namespace coroscope::analysis
