// SPDX-License-Identifier: Apache-2.0
#pragma once

// Export to Perfetto's own format, a protobuf trace. It holds the picture that the export to Chrome's
// format has (chrome.hpp), with names and places written once, and is a third as large.
//
// Threads are tracks of the process, and so are lanes of tasks, in a group of their own; each device is
// a group of its streams. Bars are pairs of slice begin and end, in nanoseconds since the session's
// start, which a snapshot of the clocks relates to real time. What is said of a bar is in its debug
// annotations. Scopes that moved between threads outside every task, which overlap, stand on lanes
// "between threads N".
//
// The writer streams: it holds a buffer of 1 MiB and, beside the loaded trace, a few dozen
// bytes per task, slice, device activity and name. It only reads the trace, which several threads may
// export at once.

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// What an export wrote: the same as in Chrome's format.
using perfetto_totals = chrome_totals;

/// Writes the whole trace. Fails where the sink does.
[[nodiscard]] COROSCOPE_API result<perfetto_totals> export_perfetto(const trace& from,
                                                                    const byte_sink& sink);

}  // namespace coroscope::analysis
