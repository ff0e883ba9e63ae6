// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a trace lacks, which every view of it tells.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/trace/format.hpp>

namespace coroscope::analysis {

/// What the trace lost, and how healthy it is.
struct trace_health {
    bool finished = true;  ///< false: the process died before stop()
    std::uint64_t dropped_newest = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t late_records = 0;
    std::uint64_t tasks_without_slot = 0;
    std::uint64_t open_ranges = 0;  ///< ranges that had not ended when the session did
    std::uint64_t cut_texts = 0;    ///< arguments, labels, attributes, … that were too long
    /// Awaits that ended and nobody saw become ready. Of a session that recorded every thread: 0.
    std::uint64_t unseen_wakes = 0;
    std::uint64_t damaged_chunks = 0;  ///< chunks that were left out because their bytes are wrong
    bool partial = false;  ///< reading was stopped by trace_load_options::post_processing_timeout_s
    int write_error = 0;
    coroscope::trace::device_recording devices{};
    std::string device_message;  ///< why devices are not recorded, or not wholly
    std::uint64_t lost_device_records = 0;
    /// Signal, thread and async stack of a crash, in lines; empty: none was reported.
    std::string crash_report;
    coroscope::trace::asio_tracking asio{};  ///< what it is not is no damage, but missing
    std::vector<std::string> warnings;       ///< damage found while reading, one line each
    [[nodiscard]] bool lost_records() const {
        return dropped_newest + overwritten + late_records != 0;
    }
};

}  // namespace coroscope::analysis
