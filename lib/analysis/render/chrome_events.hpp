// SPDX-License-Identifier: Apache-2.0
#pragma once

// The events of a Chrome trace: which lane each span of the model goes to, and what is said of it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/device_statistics.hpp>

#include "chrome_lanes.hpp"
#include "chrome_text.hpp"
#include "chrome_writer.hpp"

namespace coroscope::analysis::render {

/// The arguments of one event, between its braces.
class argument_list {
public:
    explicit argument_list(chrome_writer& out) : out_(out) {}

    /// `key` is JSON, quotes and colon included.
    void integer(std::string_view key, std::int64_t value) {
        separate();
        out_.raw(key).integer(value);
    }
    /// A whole member as JSON; nothing where it is empty.
    void member(std::string_view json) {
        if (json.empty()) return;
        separate();
        out_.raw(json);
    }

private:
    void separate() {
        if (!first_) out_.raw(",");
        first_ = false;
    }

    chrome_writer& out_;
    bool first_ = true;
};

class chrome_events {
public:
    chrome_events(const trace& from, const byte_sink& sink);

    // What each element of the model covers. Never before the session's start (viewers drop
    // negative times) and never of negative length, whatever the trace says.
    [[nodiscard]] span span_of(const task_info& task) const;
    [[nodiscard]] static span span_of(const slice& run);
    [[nodiscard]] static span span_of(const event& scope);
    [[nodiscard]] span span_of(const await_info& await) const;
    [[nodiscard]] static span span_of(const device_activity& activity);

    void begin();
    /// A mark at each spawn, wake and call from which an arrow leads. Before the spans: these then know
    /// which of them an arrow leads to.
    void write_flow_sources();

    // The spans, by (start ascending, end descending) over all kinds.
    void write_task(std::uint32_t index);
    void write_slice(std::uint32_t index);
    void write_scope(std::uint32_t index);
    void write_await(std::uint32_t index);
    void write_device_activity(std::uint32_t index);

    /// Closes the document. False where any of it could not be written.
    bool end();

    [[nodiscard]] bool failed() const noexcept { return out_.failed(); }
    [[nodiscard]] const chrome_totals& totals() const noexcept { return totals_; }

private:
    /// Behind the tasks stand the devices, as in the model, and one for activities that name none.
    enum class process : std::uint32_t { threads, tasks, devices };

    /// A lane as the viewer knows it.
    struct place {
        process in;
        std::uint32_t tid;
    };

    struct task_lane {
        lane spans;
        std::uint32_t owner = none;
    };

    struct stream_lane {
        lane spans;
        place where;
        std::uint32_t number;
    };

    /// The lanes of the tasks that one site spawns.
    struct site_lanes {
        lane_pool pool;
        std::vector<std::uint32_t> tasks;  ///< by place in the pool: index into task_lanes_
        std::uint32_t rank = 0;
    };

    [[nodiscard]] std::uint32_t thread_at(std::uint32_t thread) const;
    [[nodiscard]] std::uint32_t take_task_lane(std::uint32_t spawn_site, const span& lives);
    [[nodiscard]] std::optional<place> place_on_thread(std::uint32_t thread, const span& what);
    [[nodiscard]] std::optional<place> place_on_task(std::uint32_t task, const span& what,
                                                     inside room);
    [[nodiscard]] std::optional<place> place_on_stream(const device_activity& activity,
                                                       const span& what);
    [[nodiscard]] stream_lane& lane_of_stream(const device_activity& activity);
    [[nodiscard]] process process_of(const device_activity& activity) const;
    [[nodiscard]] std::optional<place> place_beside(process in, std::uint32_t owner,
                                                    const span& what, inside room);

    void separate();
    void name_process(process which, std::string_view name, int rank);
    void name_lane(const place& where, std::string_view name, std::uint32_t rank);
    void open_complete(const place& where, const span& what, std::string_view name,
                       std::string_view category);
    void write_first_queue(const place& where, const task_info& task);
    void write_suspended(const place& where, std::uint32_t index, const span& what);
    void write_awaited_streams(argument_list& arguments, std::uint32_t await);
    [[nodiscard]] std::string awaited_text(std::uint32_t context, std::uint32_t stream) const;
    void find_ranges();
    void write_range_on_device(argument_list& arguments, std::uint32_t event);
    void write_queued(const place& where, const span& what, std::uint32_t site);
    [[nodiscard]] std::string_view name_of(const event& scope);
    void write_apart(std::uint32_t index, const span& what);
    void write_scope_arguments(std::uint32_t index);
    void write_split(argument_list& arguments, const time_split& time) const;
    void write_task_id(argument_list& arguments, std::string_view key, std::uint32_t task) const;
    void write_flow_source(std::uint32_t thread, std::int64_t time_ns, std::uint32_t task,
                           std::uint32_t to, std::string_view name);
    bool write_flow_mark(const place& where, std::int64_t time_ns, std::int64_t leads_to_ns,
                         std::uint32_t task, std::uint64_t id, std::string_view name);
    void write_flows_to(std::uint32_t task);
    void write_launch(std::uint32_t index);
    void find_resumed();
    [[nodiscard]] std::uint32_t last_of(const device_wait& wait, std::int64_t resume_ns) const;
    [[nodiscard]] std::uint32_t slice_from(std::uint32_t task, std::int64_t time_ns) const;
    void write_resumed(std::uint32_t index, const place& where);
    void write_device_arguments(const device_activity& activity);
    void write_losses();

    const trace& from_;
    chrome_writer out_;
    chrome_text text_;
    chrome_totals totals_;
    std::vector<std::string> heads_;  ///< an event's first members, by process
    std::vector<lane> thread_lanes_;  ///< by thread, and one for what names no thread
    std::vector<std::uint32_t> thread_tids_;
    std::vector<task_lane> task_lanes_;
    std::vector<std::uint32_t> lane_of_task_;
    std::vector<site_lanes> lanes_of_site_;  ///< by spawn site, and one for the unknown site
    std::uint32_t sites_with_lanes_ = 0;
    std::vector<side_lanes> beside_;   ///< by process
    std::vector<bool> flow_to_slice_;  ///< by slice: an arrow ends there; its id is the index + 1
    std::uint64_t apart_ = 0;          ///< events written as begin and end
    std::map<std::tuple<process, std::uint32_t, std::uint32_t>, stream_lane>
        streams_;                                ///< by process, context and stream
    std::map<process, std::uint32_t> contexts_;  ///< the first of each device
    /// By activity: an arrow ends there. Ids of arrows go on behind those of the slices.
    std::vector<bool> flow_to_activity_;
    device_coverage coverage_;
    /// What was the last that a wait waited for: indices of activity and wait, in order.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> resumed_;
    std::map<std::uint32_t, std::uint32_t> ranges_;  ///< on streams of devices, by event
};

}  // namespace coroscope::analysis::render
