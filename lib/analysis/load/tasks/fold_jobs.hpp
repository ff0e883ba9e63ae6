// SPDX-License-Identifier: Apache-2.0
#pragma once

// Folds executors' jobs that only resume tasks. Such a job is not a task: posting it woke the task
// that it resumes. A job that works before the resume is a task, and wakes the other task when it
// resumes it.

#include "../records/task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

/// Finds the jobs that resume at least one task while they run. A job that did nothing else before
/// is folded: it becomes a wake of the first task that it resumes, at the time of the post and by
/// the task that posted it. That task also replaces the job as a parent or waker of others. Folded
/// jobs move behind all other tasks, from task_records::first_folded on. A job that worked before
/// becomes the waker of the first task that it resumes, at the time of the resume. A job that is
/// known to do nothing but resume a task, and was dropped before it ran, is folded without a wake.
void fold_jobs(task_records& records, trace& loaded);

}  // namespace coroscope::analysis::inline tasks
