// SPDX-License-Identifier: Apache-2.0
#pragma once

// The elements of a picture of a trace, and the interface that draws it in one format. `drawing`
// places the elements; a canvas, one for each format, writes them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include <coroscope/analysis/model.hpp>

#include "drawing_lanes.hpp"

namespace coroscope::analysis::inline timelines {

/// A group of lanes. The groups after `tasks` are the devices, in the model's order, one group for
/// activities without a device, one for the slowest requests, and one for waits.
enum class process : std::uint32_t { threads, tasks, devices };

[[nodiscard]] inline std::size_t count_processes(const trace& from) {
    return static_cast<std::size_t>(process::devices) + from.devices.size() + 3;
}

/// The group of the slowest requests.
[[nodiscard]] inline process requests_process(const trace& from) {
    return static_cast<process>(count_processes(from) - 2);
}

/// The group of waits for locks and resources, and of blocking calls.
[[nodiscard]] inline process waits_process(const trace& from) {
    return static_cast<process>(count_processes(from) - 1);
}

/// A lane.
struct lane_ref {
    process in;
    std::uint32_t tid;     ///< unique in its group; a thread's is the system's
    std::uint32_t number;  ///< unique among all lanes; threads come first
};

/// The arguments of a bar, in the order of `argument_names`.
enum class argument : std::uint8_t {
    task,
    parent,
    awaiter,
    state,
    at,
    running_ns,
    suspended_ns,
    queued_ns,
    waiting_ns,
    self_ns,
    nested,
    losses,
    clipped,
    abandoned,
    open,
    suspension,
    arguments,
    awaited,
    waker,
    wake,
    resumed,
    waited_for,
    device_ns,
    device_queued_ns,
    ended_by,
    device_start_ns,
    device_end_ns,
    context,
    stream,
    correlation,
    bytes,
    resume_overdue,
    spawned_at,
    request,
    executor,
    object,
    outcome,
    // From here on: only if the trace has states of threads.
    on_cpu_ns,
    blocked_ns,
    preempted_ns,
    state_unknown_ns,
    call,
    descriptor,
    address,
    lock,
    holder,
    holder_task,
    holder_scope,
};
inline constexpr argument first_argument_of_states = argument::on_cpu_ns;

inline constexpr std::string_view argument_names[] = {  // by argument
    "task",
    "parent",
    "awaiter",
    "state",
    "at",
    "running_ns",
    "suspended_ns",
    "queued_ns",
    "waiting_ns",
    "self_ns",
    "nested",
    "losses",
    "clipped",
    "abandoned",
    "open",
    "suspension",
    "arguments",
    "awaited",
    "waker",
    "wake",
    "resumed",
    "waited_for",
    "device_ns",
    "device_queued_ns",
    "ended_by",
    "device_start_ns",
    "device_end_ns",
    "context",
    "stream",
    "correlation",
    "bytes",
    "resume_overdue",
    "spawned_at",
    "request",
    "executor",
    "object",
    "outcome",
    "on_cpu_ns",
    "blocked_ns",
    "preempted_ns",
    "state_unknown_ns",
    "call",
    "descriptor",
    "address",
    "lock",
    "holder",
    "holder_task",
    "holder_scope"};
static_assert(static_cast<std::size_t>(argument::holder_scope) + 1 == std::size(argument_names));

/// One argument of a bar.
struct argument_value {
    enum class kind : std::uint8_t { integer, flag, text, site_place };

    argument key;
    kind is;
    std::int64_t number;    ///< an integer, a flag as 0 or 1, or an index into trace::sites
    std::string_view text;  ///< any bytes
};

/// One bar on a lane, or a moment on it.
class bar {
public:
    lane_ref where{};
    span what{};
    std::uint32_t name = none;   ///< as drawing_names has it; none: `own_name`
    std::uint32_t category = 0;  ///< as drawing_names has it
    std::string_view own_name;   ///< any bytes
    std::uint64_t flow_in = 0;   ///< the arrow that leads here; 0: none does
    std::uint64_t flow_out = 0;  ///< the arrow that leads from here
    bool is_moment = false;      ///< it is only the end of an arrow

    void integer(argument key, std::int64_t value) {
        add({key, argument_value::kind::integer, value, {}});
    }
    void flag(argument key, bool value) {
        add({key, argument_value::kind::flag, value ? 1 : 0, {}});
    }
    /// The text must stay valid until the bar is drawn.
    void text(argument key, std::string_view value) {
        add({key, argument_value::kind::text, 0, value});
    }
    /// Adds the place of a site in the source.
    void at(std::uint32_t site) { add({argument::at, argument_value::kind::site_place, site, {}}); }
    void clear() noexcept { count_ = 0; }

    [[nodiscard]] const argument_value* begin() const noexcept { return values_.data(); }
    [[nodiscard]] const argument_value* end() const noexcept { return values_.data() + count_; }

private:
    /// Each argument is added at most once, so there is room.
    void add(const argument_value& value) { values_[count_++] = value; }

    std::array<argument_value, std::size(argument_names)> values_;
    std::size_t count_ = 0;
};

/// A point of a counter track. Tracks have numbers from 0.
struct counter_point {
    std::uint32_t track;
    std::string_view name;  ///< any bytes
    std::int64_t time_ns;
    double number;
};

class canvas {
public:
    /// Names a group of lanes. Must be called before any of its lanes is named. Viewers sort groups
    /// by rank.
    virtual void name_process(process which, std::string_view name, std::uint32_t rank) = 0;
    /// Names a lane. Must be called before anything is drawn there.
    virtual void name_lane(const lane_ref& where, std::string_view name, std::uint32_t rank) = 0;
    /// Draws a bar that nests in the bars on its lane. Bars must come by (start ascending, end
    /// descending). Moments may come at any time.
    virtual void draw(const bar& drawn) = 0;
    /// Draws a bar that began on a lane and overlaps bars there.
    virtual void draw_apart(const bar& drawn) = 0;
    /// Draws a point of a counter track. Its number lasts until the next point. The first point of
    /// a track names the track. The points of a track must come by time, and must be finite.
    virtual void draw_counter(const counter_point& point) = 0;
    /// Whether the sink has refused bytes. Nothing more needs to be drawn then.
    [[nodiscard]] virtual bool failed() const noexcept = 0;

protected:
    ~canvas() = default;
};

}  // namespace coroscope::analysis::inline timelines
