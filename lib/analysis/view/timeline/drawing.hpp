// SPDX-License-Identifier: Apache-2.0
#pragma once

// Draws a trace for viewers: chooses the lane of each span of the model, its arguments, and the
// arrows. A canvas writes the result in one format.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <coroscope/analysis/chrome_totals.hpp>
#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "blocked_reasons.hpp"
#include "canvas.hpp"
#include "drawing_lanes.hpp"
#include "drawing_names.hpp"
#include "open_rows.hpp"
#include "running_states.hpp"
#include "slice_parts.hpp"

namespace coroscope::analysis::inline timelines {

class drawing {
public:
    drawing(const trace& from, canvas& on);

    // Each returns the span of an element of the model. Even for a damaged trace, it does not begin
    // before the session's start (viewers drop negative times) and has no negative length.
    [[nodiscard]] span span_of(const task_info& task) const;
    /// If the slice goes on after a hand-over, the span ends with its last part.
    [[nodiscard]] span span_of_slice(std::uint32_t index) const;
    [[nodiscard]] static span span_of(const slice& run);
    [[nodiscard]] static span span_of(const event& scope);
    [[nodiscard]] span span_of(const await_info& await) const;
    [[nodiscard]] static span span_of(const device_activity& activity);

    [[nodiscard]] static span span_between(std::int64_t start_ns, std::int64_t end_ns);

    void name_lanes();
    /// Draws a mark at each spawn, wake and call from which an arrow leads. Must be called before
    /// the spans are drawn, because it decides to which spans arrows lead.
    void draw_flow_sources();

    // The spans, by (start ascending, end descending) over all kinds.
    void draw_task(std::uint32_t index);
    void draw_slice(std::uint32_t index);
    void draw_scope(std::uint32_t index);
    void draw_await(std::uint32_t index);
    void draw_device_activity(std::uint32_t index);

    /// Draws the states of threads after the last spans. Earlier states are drawn between the
    /// spans.
    void draw_last_states();

    /// Draws the slowest requests, each on a lane of its own.
    void draw_requests();
    /// Draws the waits for locks and resources, and the blocking calls.
    void draw_waits();

    [[nodiscard]] const chrome_totals& totals() const noexcept { return totals_; }

private:
    struct task_lane {
        lane spans;
        lane_ref where;
        std::uint32_t owner = none;
    };

    struct stream_lane {
        lane spans;
        lane_ref where;
        std::uint32_t number;
    };

    /// Lanes beside the regular ones of a process.
    struct lanes_beside {
        side_lanes spans;
        std::vector<lane_ref> where;
    };

    /// The lanes of the tasks that one site spawns.
    struct site_lanes {
        lane_pool pool;
        std::vector<std::uint32_t> tasks;  ///< by place in the pool: index into task_lanes_
        std::uint32_t rank = 0;
    };

    [[nodiscard]] lane_ref new_lane(process in, std::uint32_t tid) { return {in, tid, lanes_++}; }
    [[nodiscard]] std::uint32_t thread_at(std::uint32_t thread) const;
    [[nodiscard]] lane_ref lane_of_thread(std::uint32_t thread) const;
    [[nodiscard]] std::uint32_t take_task_lane(std::uint32_t spawn_site, const span& lives);
    [[nodiscard]] std::optional<lane_ref> place_on_thread(std::uint32_t thread, const span& what);
    [[nodiscard]] std::optional<lane_ref> place_on_task(std::uint32_t task, const span& what,
                                                        inside room);
    [[nodiscard]] std::optional<lane_ref> place_on_stream(const device_activity& activity,
                                                          const span& what);
    [[nodiscard]] stream_lane& lane_of_stream(const device_activity& activity);
    [[nodiscard]] process process_of(const device_activity& activity) const;
    [[nodiscard]] std::optional<lane_ref> place_beside(process in, std::uint32_t owner,
                                                       const span& what, inside room);

    /// Returns the next bar, without arguments. It is valid until the next call.
    bar& open(const lane_ref& where, const span& what, std::uint32_t name, std::uint32_t category);
    bar& open_moment(const lane_ref& where, std::int64_t time_ns, std::uint32_t name);
    void draw_request(const request_info& request, const request_time& time,
                      const critical_path& path, std::uint32_t rank);
    void draw_segment(const lane_ref& where, const path_segment& segment);
    template <class Wait, class Draw>
    void draw_waits_of(const std::vector<Wait>& waits, std::string_view kind, const Draw& draw);
    void draw_wait(const lock_wait& wait);
    void draw_wait(const resource_wait& wait);
    void draw_wait(const blocking_call& wait);
    void add_holder_scope(std::uint32_t scope);
    [[nodiscard]] std::string executor_text(std::uint32_t executor) const;
    void draw_first_queue(const lane_ref& where, const task_info& task);
    void draw_suspended(const lane_ref& where, std::uint32_t index, const span& what);
    void draw_queued(const lane_ref& where, const span& what, std::uint32_t site);
    [[nodiscard]] std::uint32_t name_of(const event& scope) const;
    void describe_scope(bar& drawn, std::uint32_t index);
    void describe_device_activity(bar& drawn, const device_activity& activity) const;
    static void add_split(bar& drawn, const time_split& time);
    void add_task_id(bar& drawn, argument key, std::uint32_t task) const;
    void add_place(bar& drawn, std::uint32_t site) const;
    void add_awaited_streams(bar& drawn, std::uint32_t await);
    void add_range_on_device(bar& drawn, std::uint32_t event);
    [[nodiscard]] std::string awaited_text(std::uint32_t context, std::uint32_t stream) const;

    void draw_states_until(std::int64_t until_ns, const lane_ref& where, lane& spans,
                           std::uint32_t task = none);
    void draw_states_of_task(const lane_ref& where, std::uint32_t task, const span& what);
    void draw_states_of_thread(const lane_ref& where, std::uint32_t thread, const span& what);
    void draw_blocked(const lane_ref& where, std::uint32_t thread, const span& what);
    void add_states(bar& drawn, const event& scope, bool moved) const;
    static void add_states(bar& drawn, const state_times& times);

    void draw_flow_source(std::uint32_t thread, std::int64_t time_ns, std::uint32_t task,
                          std::uint32_t to, word name);
    bool draw_flow_mark(const lane_ref& where, std::int64_t time_ns, std::int64_t leads_to_ns,
                        std::uint32_t task, std::uint64_t id, word name);
    void draw_flows_to(std::uint32_t task);
    void draw_launch(std::uint32_t index);
    void draw_resumed(std::uint32_t index, const lane_ref& where);
    void find_resumed();
    void find_ranges();
    [[nodiscard]] std::uint32_t last_of(const device_wait& wait, std::int64_t resume_ns) const;
    [[nodiscard]] std::uint32_t slice_from(std::uint32_t task, std::int64_t time_ns) const;

    const trace& from_;
    canvas& canvas_;
    drawing_names names_;
    chrome_totals totals_;
    bar bar_;
    std::string text_;                ///< text to which bar_ refers
    std::uint32_t lanes_ = 0;         ///< number of lanes
    std::uint32_t wait_lanes_ = 0;    ///< number of lanes of waits
    std::vector<lane> thread_lanes_;  ///< by thread, and one for events without a thread
    std::vector<std::uint32_t> thread_tids_;
    std::vector<task_lane> task_lanes_;
    std::vector<std::uint32_t> lane_of_task_;
    std::vector<site_lanes> lanes_of_site_;  ///< by spawn site, and one for the unknown site
    std::uint32_t sites_with_lanes_ = 0;
    std::vector<lanes_beside> beside_;  ///< by process
    slice_parts parts_;
    std::vector<bool> flow_to_slice_;  ///< by slice: an arrow ends there; its id is the index + 1
    std::map<std::tuple<process, std::uint32_t, std::uint32_t>, stream_lane>
        streams_;                                ///< by process, context and stream
    std::map<process, std::uint32_t> contexts_;  ///< by device: its first context
    /// By activity: whether an arrow ends there. The ids of these arrows follow those of the
    /// slices' arrows.
    std::vector<bool> flow_to_activity_;
    device_coverage coverage_;
    open_rows nesting_;
    /// The last activity for which each wait waited, as sorted pairs of the indices of activity and
    /// wait.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> resumed_;
    std::map<std::uint32_t, std::uint32_t> ranges_;  ///< on streams of devices, by event

    // The states of threads. Empty if the trace knows none.
    std::optional<running_states> running_;
    std::optional<blocked_reasons> reasons_;
    std::vector<std::int64_t> states_until_;  ///< by lane: its states are drawn up to that moment
};

}  // namespace coroscope::analysis::inline timelines
