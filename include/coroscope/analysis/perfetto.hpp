// SPDX-License-Identifier: Apache-2.0
#pragma once

// Export to Perfetto's own format, a protobuf trace. It has the same content as the export to
// Chrome's format (chrome.hpp), writes names and places once, and is a third as large.
//
// Threads are tracks of the process. Lanes of tasks are tracks, too, in a group of their own. Each
// device is a group of its streams. Bars are pairs of slice begin and end, in nanoseconds since the
// session's start, which a clock snapshot relates to real time. Details of a bar are in its debug
// annotations. Scopes that moved between threads outside tasks may overlap; they are on lanes
// "between threads N".
//
// The writer streams: it holds a buffer of 1 MiB and, beside the loaded trace, a few dozen bytes
// per task, slice, device activity and name. It only reads the trace, so several threads may export
// it at once.

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The numbers of items that an export wrote, as in Chrome's format.
using perfetto_totals = chrome_totals;

/// Writes the whole trace. Fails if the sink fails.
[[nodiscard]] COROSCOPE_API result<perfetto_totals> export_perfetto(const trace& from,
                                                                    const byte_sink& sink);

}  // namespace coroscope::analysis
