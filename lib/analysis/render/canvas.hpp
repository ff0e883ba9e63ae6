// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a picture of a trace is made of, and what draws it in one format. `drawing` decides what stands
// where; a canvas, one for each format, decides how that is written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <coroscope/analysis/model.hpp>

#include "drawing_lanes.hpp"

namespace coroscope::analysis::render {

/// A group of lanes. Behind the tasks stand the devices, as in the model, and one for activities that
/// name none.
enum class process : std::uint32_t { threads, tasks, devices };

[[nodiscard]] inline std::size_t count_processes(const trace& from) {
    return static_cast<std::size_t>(process::devices) + from.devices.size() + 1;
}

/// A lane.
struct lane_ref {
    process in;
    std::uint32_t tid;     ///< that of a thread is the system's; of no other lane of the group
    std::uint32_t number;  ///< among all lanes; the threads', in the model's order, come first
};

/// What is said of a bar. The order is that of `argument_names`.
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
};

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
    "bytes"};
static_assert(static_cast<std::size_t>(argument::bytes) + 1 == std::size(argument_names));

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
    bool is_moment = false;      ///< the end of an arrow, and nothing else

    void integer(argument key, std::int64_t value) {
        add({key, argument_value::kind::integer, value, {}});
    }
    void flag(argument key, bool value) {
        add({key, argument_value::kind::flag, value ? 1 : 0, {}});
    }
    /// The text must live until the bar is drawn.
    void text(argument key, std::string_view value) {
        add({key, argument_value::kind::text, 0, value});
    }
    /// Where a site stands in the source.
    void at(std::uint32_t site) { add({argument::at, argument_value::kind::site_place, site, {}}); }
    void clear() noexcept { count_ = 0; }

    [[nodiscard]] const argument_value* begin() const noexcept { return values_.data(); }
    [[nodiscard]] const argument_value* end() const noexcept { return values_.data() + count_; }

private:
    /// No argument is said twice, so there is room.
    void add(const argument_value& value) { values_[count_++] = value; }

    std::array<argument_value, std::size(argument_names)> values_;
    std::size_t count_ = 0;
};

class canvas {
public:
    /// Names a group of lanes, before any of its lanes where it has a name. Viewers sort by rank.
    virtual void name_process(process which, std::string_view name, std::uint32_t rank) = 0;
    /// Names a lane, before what is drawn there.
    virtual void name_lane(const lane_ref& where, std::string_view name, std::uint32_t rank) = 0;
    /// Draws a bar that nests in what stands on its lane. Bars come by (start ascending, end
    /// descending), moments at any time.
    virtual void draw(const bar& drawn) = 0;
    /// Draws a bar that began on a lane and overlaps what is there.
    virtual void draw_apart(const bar& drawn) = 0;
    /// Whether the sink has refused bytes. Nothing more needs to be drawn then.
    [[nodiscard]] virtual bool failed() const noexcept = 0;

protected:
    ~canvas() = default;
};

}  // namespace coroscope::analysis::render
