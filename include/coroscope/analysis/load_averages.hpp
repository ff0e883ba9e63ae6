// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads a trace for one question: the averages of its scopes. If the trace has only scopes that ran
// on one thread from start to end, its scopes are added up while they are read, and the memory does
// not grow with their number. Any other trace is loaded in whole.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/fold_tasks.hpp>
#include <coroscope/analysis/load_options.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/analysis/select_part.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

/// A native trace and the averages of its scopes.
struct trace_averages {
    /// After fold_tasks(). Without events if the averages did not need them; then
    /// thread_info::scopes_left_out has their number.
    trace loaded;
    std::vector<function_event_avg> rows;     ///< as key_averages() returns them
    std::int64_t self_cpu_time_total_ns = 0;  ///< that of total_average()
    std::int64_t running_time_total_ns = 0;   ///< as running_time_total_ns() returns it
};

struct averages_options {
    average_key key = average_key::name;
    std::string attribute{};  ///< as in key_averages()
    fold_options fold{};
    load_options how{};        ///< of traces that are not native
    unsigned jobs = 0;         ///< as in trace_load_options
    part_choice part{};        ///< of a native trace, which is then loaded in whole
    bool percentiles = false;  ///< also sets wall_percentiles; the trace is loaded in whole
};

/// Loads the averages of the native trace in the file `path`, or the events of any other trace.
/// Fails like load_trace_or_events(). Thread-safe; calls are independent of each other.
COROSCOPE_API result<std::variant<trace_averages, event_list>>
load_averages(const std::string& path, const averages_options& options = {});

/// As above, from memory. The result keeps no reference to `bytes`.
COROSCOPE_API result<std::variant<trace_averages, event_list>>
load_averages(const coroscope::trace::buffer& bytes, const averages_options& options = {});

}  // namespace coroscope::analysis
