// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the attribute that each event and task carried. A task has a history, made of its own
// changes. A context that was installed by hand carries the attributes of its capture, on its
// thread until it ends. A folded job has a history, too, which is used for its scopes.

#include "metadata.hpp"
#include "task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline records {

/// Returns whether the trace has attributes. Else nothing but the tasks of the model needs the ops.
[[nodiscard]] bool has_attributes(const task_records& records);

/// Fills in trace::attributes, event::attribute and task_info::attribute.
void attach_attributes(const task_records& records, metadata& names, trace& loaded);

}  // namespace coroscope::analysis::inline records
