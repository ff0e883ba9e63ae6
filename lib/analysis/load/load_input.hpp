// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the checked chunks of a native trace to the model.

#include <functional>
#include <optional>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <coroscope/trace/reader.hpp>

#include "records/clock_map.hpp"
#include "records/metadata.hpp"
#include "records/task_records.hpp"
#include "tasks/task_history.hpp"
#include "tasks/timeline.hpp"

namespace coroscope::analysis::inline loading {

/// The records of a loaded trace. The stack scopes are only counted, and are no events.
struct loaded_streams {
    const task_records& records;
    const std::vector<timeline>& timelines;  ///< by stream
    const task_histories& histories;
    const metadata& names;
    const clock_map& clock;
    const trace& loaded;
};

/// The way in which a trace is loaded.
struct load_plan {
    scopes_to_load scopes = scopes_to_load::all;
    unsigned jobs = 0;
    /// If set: no stack scope becomes an event, and the function gets the records at the end.
    const std::function<void(const loaded_streams&)>* visit = nullptr;
};

/// Whether the file holds only a part of a trace, which load_input() then selects.
[[nodiscard]] bool is_part_of_trace(const coroscope::trace::reader& input) noexcept;

/// Fails if `timeout_s` is negative, or if memory runs out.
[[nodiscard]] result<trace> load_input(const coroscope::trace::reader& input, const load_plan& plan,
                                       const std::optional<double>& timeout_s = {});

}  // namespace coroscope::analysis::inline loading
