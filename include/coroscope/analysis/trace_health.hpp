// SPDX-License-Identifier: Apache-2.0
#pragma once

// The gaps of a trace, which every view of it must report.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/trace/format.hpp>

namespace coroscope::analysis {

/// The part of a trace that select_part() selected.
struct trace_part {
    bool is_stretch = false;   ///< the members below it are known
    std::int64_t from_ns = 0;  ///< since the start of the whole trace
    std::int64_t to_ns = 0;
    std::int64_t whole_ns = 0;  ///< duration of the whole trace
    // Things that began before the stretch or ended after it. Their times are those within it.
    std::uint64_t cut_scopes = 0;
    std::uint64_t cut_tasks = 0;
    std::uint64_t cut_requests = 0;
    std::string where;           ///< the conditions on the work; empty: none
    bool requests_only = false;  ///< the conditions chose requests, and left all else in the trace

    [[nodiscard]] bool any() const noexcept { return is_stretch || !where.empty(); }
};

/// The losses and the health of a trace.
struct trace_health {
    bool finished = true;  ///< false: the process died before stop(), or `being_recorded`
    std::uint64_t dropped_newest = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t late_records = 0;
    std::uint64_t tasks_without_slot = 0;
    std::uint64_t open_ranges = 0;  ///< ranges that had not ended at the end of the session
    /// Scopes that had not ended at the end of the session, if it names them.
    std::uint64_t open_scopes = 0;
    bool open_scopes_unknown = false;  ///< the session was not asked to name open scopes
    /// Scopes that the session could not have named as open, because it had no room for them.
    std::uint64_t unnamed_scopes = 0;
    std::uint64_t cut_texts = 0;  ///< arguments, labels, attributes, … that were too long
    /// Attributes that the recorder lost for lack of room; there may be more. Scopes that would
    /// carry them have unknown attributes.
    std::uint64_t attributes_without_room = 0;
    /// Records of awaits, spawns and ranges without a site, because the table of sites was full.
    std::uint64_t places_without_room = 0;
    /// Awaits that ended without a recorded wake. 0 for a session that recorded every thread.
    std::uint64_t unseen_wakes = 0;
    /// Chunks that are missing, duplicated, or left out because of wrong bytes.
    std::uint64_t damaged_chunks = 0;
    bool partial = false;  ///< reading was stopped by trace_load_options::post_processing_timeout_s
    int write_error = 0;
    coroscope::trace::device_recording devices{};
    std::string device_message;  ///< why devices are not recorded, or not completely
    std::uint64_t lost_device_records = 0;
    /// Signal, thread and async stack of a crash, in lines; empty if no crash was reported.
    std::string crash_report;
    /// All values but in_order mean missing data, not damage.
    coroscope::trace::asio_tracking asio{};
    std::uint32_t asio_version = 0;  ///< version of the tracked Asio, as in file_header
    std::uint32_t boost_asio_version = 0;
    std::vector<std::string> warnings;  ///< damage found while reading, one line each
    /// The tasks that fold_tasks() left out, their times, and the libraries or patterns that
    /// selected them.
    std::uint64_t folded_tasks = 0;
    std::int64_t folded_running_ns = 0;
    std::int64_t folded_queued_ns = 0;
    std::int64_t folded_waiting_ns = 0;
    std::vector<std::string> folded_by;
    /// The session still recorded into the file when the file was read. Always false for a trace
    /// from a pipe or from memory, and for a program that closed the trace's descriptor.
    bool being_recorded = false;
    /// Requests of which nothing but the request itself was recorded, because the session samples
    /// requests (request_sampling). They are no loss.
    std::uint64_t left_out_requests = 0;
    /// coroscope::trace::session_features that were asked for and have data, and those that have
    /// none, because the program does not call or link what they need. The latter are no loss.
    std::uint64_t with_data = 0;
    std::uint64_t without_data = 0;
    trace_part part{};  ///< the losses above are those of the whole trace
    [[nodiscard]] bool lost_records() const {
        return dropped_newest + overwritten + late_records != 0;
    }
};

}  // namespace coroscope::analysis
