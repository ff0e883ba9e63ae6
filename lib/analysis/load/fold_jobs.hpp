// SPDX-License-Identifier: Apache-2.0
#pragma once

// An executor's job that does nothing but resume a task is no activity of its own: posting it is what woke the task. One
// that works before is a task, and wakes the other as it resumes it.

#include "task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// Finds the jobs that resume at least one task while they run. One that did nothing else before becomes a wake of the
/// first task it resumes, at the time the job was posted and by the task that posted it; whoever names the job as
/// parent or waker names that task instead. Folded jobs move behind all other tasks, from
/// task_records::first_folded on. One that did is the waker of that task, at the time of the resume.
void fold_jobs(task_records& records, trace& loaded);

}  // namespace coroscope::analysis::loading
