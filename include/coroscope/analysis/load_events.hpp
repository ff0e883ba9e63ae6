// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads a trace of any origin as events in torch's words.
//
// The content of the file decides, not its name. It may be a native trace, Chrome-trace JSON (from
// Kineto or any other program, as an object or an array), an nvprof database or an Nsight Systems
// database, each possibly compressed by gzip. JSON is read in windows of a few megabytes, so a file
// may have any size.
//
// The input is never trusted. An odd event of a Chrome trace (malformed, or with a value of the
// wrong type) is left out; event_list::health.warnings has the number of odd events by reason, with
// the first byte offset. If load_options::strict is set, or no event is good, the first odd event
// is a failure. Other malformed input is a failure with its byte offset (in the uncompressed text)
// or its table and row. If a file ends too early, the events before the end are kept, and a warning
// has their number.

#include <string>
#include <variant>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/load_options.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

/// Loads the events of the trace in the file `path`, with their tree (build_tree). Fails if the
/// file cannot be read, has no known format or is malformed, or if memory runs out. Thread-safe;
/// calls are independent of each other.
COROSCOPE_API result<event_list> load_events(const std::string& path,
                                             const load_options& options = {});

/// As above, from memory. The list keeps no reference to `bytes`.
COROSCOPE_API result<event_list> load_events(const coroscope::trace::buffer& bytes,
                                             const load_options& options = {});

/// The content of a file: a native trace as its model, any other file as its events.
using trace_or_events = std::variant<trace, event_list>;

/// Loads the content of the file `path`. Opens the file once, so it may be a pipe. Otherwise as
/// load_events.
COROSCOPE_API result<trace_or_events> load_trace_or_events(const std::string& path,
                                                           const load_options& options = {});

}  // namespace coroscope::analysis
