// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a trace of any origin to the events in torch's words.
//
// What is in the file decides, not its name: a native trace, Chrome-trace JSON (Kineto's and everybody
// else's, as an object or an array), an nvprof or Nsight Systems database, and each of them compressed by
// gzip. JSON is read in windows of a few megabytes, so that a file may be of any size.
//
// The input is never trusted. Malformed input is a failure with its byte offset (in the uncompressed
// text) or its table and row; where a file merely ends too early, what was read is kept and
// event_list::health.warnings says how much that was.

#include <string>
#include <variant>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

struct load_options {
    bool keep_arguments = false;  ///< arguments that no field has go to event_extra::metadata
    bool accept_nan = false;      ///< read NaN and Infinity, which JSON does not have, in arguments
};

/// Loads the events of the trace in the file `path`, with their tree (build_tree).
/// Fails where the file cannot be read, is of no known format or malformed, or memory runs out.
/// Thread-safe; calls are independent of each other.
COROSCOPE_API result<event_list> load_events(const std::string& path,
                                             const load_options& options = {});

/// Loads them from memory. The list keeps nothing of `bytes`.
COROSCOPE_API result<event_list> load_events(const coroscope::trace::buffer& bytes,
                                             const load_options& options = {});

/// What a file holds: a native trace as its model, anything else as its events.
using trace_or_events = std::variant<trace, event_list>;

/// Loads whichever the file `path` holds; opens it once, so that it may be a pipe. Otherwise as load_events.
COROSCOPE_API result<trace_or_events> load_trace_or_events(const std::string& path,
                                                           const load_options& options = {});

}  // namespace coroscope::analysis
