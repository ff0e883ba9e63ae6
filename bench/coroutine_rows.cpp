// SPDX-License-Identifier: Apache-2.0

// One suspension (suspend and resume) and one task's life.

#include "coroutines.hpp"

#include "plain_coroutines.hpp"

namespace bench {

std::vector<row> await_rows() {
    const coroutine_bursts& plain = plain_coroutines;
    const coroutine_bursts& reads = reading_coroutines;
    return {
        {"await.recording.1", steps<false>, reads.steps, plain.steps, session_trace::open},
        {"await.recording.2", steps<false>, reads.steps, plain.steps, session_trace::open, 2},
        {"await.shared.1", hand_overs<false>, reads.hand_overs, plain.hand_overs,
         session_trace::open},
        {"await.shared.2", hand_overs<false>, reads.hand_overs, plain.hand_overs,
         session_trace::open, 2},
        {"await.inactive", steps<false>, plain.steps, plain.steps},
        {"await.shared.inactive", hand_overs<false>, plain.hand_overs, plain.hand_overs},
    };
}

std::vector<row> task_rows() {
    const coroutine_bursts& plain = plain_coroutines;
    const coroutine_bursts& reads = reading_coroutines;
    return {
        {"task.recording", eager_tasks<false>, reads.eager_tasks, plain.eager_tasks,
         session_trace::open},
        {"task.recording.2", eager_tasks<false>, reads.eager_tasks, plain.eager_tasks,
         session_trace::open, 2},
        {"task.inactive", eager_tasks<false>, plain.eager_tasks, plain.eager_tasks},
        {"task.lazy.recording", lazy_tasks<false>, reads.lazy_tasks, plain.lazy_tasks,
         session_trace::open},
        {"task.lazy.recording.2", lazy_tasks<false>, reads.lazy_tasks, plain.lazy_tasks,
         session_trace::open, 2},
        {"task.lazy.inactive", lazy_tasks<false>, plain.lazy_tasks, plain.lazy_tasks},
        {"task.foreign.recording", foreign_tasks<false>, reads.foreign_tasks, plain.foreign_tasks,
         session_trace::open},
        {"task.foreign.inactive", foreign_tasks<false>, plain.foreign_tasks, plain.foreign_tasks},
    };
}

}  // namespace bench
