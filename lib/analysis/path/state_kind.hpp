// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/critical_path.hpp>

namespace coroscope::analysis::inline paths {

/// The kind of running time on a thread in that state.
[[nodiscard]] constexpr path_kind kind_of(thread_state state) noexcept {
    switch (state) {
        case thread_state::on_cpu: return path_kind::on_cpu;
        case thread_state::blocked: return path_kind::blocked;
        case thread_state::preempted: return path_kind::preempted;
        case thread_state::unknown: break;
    }
    return path_kind::running;
}

}  // namespace coroscope::analysis::inline paths
