// SPDX-License-Identifier: Apache-2.0
#pragma once

// The effect of a record on a task that it names first or, if `as_other`, second.

#include "../records/task_op.hpp"

namespace coroscope::analysis::inline tasks {

inline bool leaves_thread(const task_op& op, bool as_other) {
    if (as_other) return false;
    return op.kind == coroscope::trace::record_kind::suspend ||
           op.kind == coroscope::trace::record_kind::transfer ||
           op.kind == coroscope::trace::record_kind::finish_transfer ||
           op.kind == coroscope::trace::record_kind::finish;
}

inline bool enters_thread(const task_op& op, bool as_other) {
    if (as_other)
        return op.kind == coroscope::trace::record_kind::transfer ||
               op.kind == coroscope::trace::record_kind::finish_transfer;
    return op.kind == coroscope::trace::record_kind::resume;
}

inline bool is_destruction(const task_op& op) {
    return op.kind == coroscope::trace::record_kind::finish &&
           (op.value & coroscope::trace::finish_destroyed) != 0;
}

}  // namespace coroscope::analysis::inline tasks
