// SPDX-License-Identifier: Apache-2.0
#pragma once

// The facts that are missing in a trace. A wait whose wake was lost may have been a wait for a
// thread. A thread of which no state is known may have had no processor, or may have waited for
// something. Such time is charged to nothing: its cause may be the machine.

#include <cstdint>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

/// Whether records of tasks may be missing.
[[nodiscard]] inline bool has_losses(const trace& loaded) noexcept {
    const trace_health& health = loaded.health;
    return health.lost_records() || health.damaged_chunks != 0 || health.partial;
}

/// Whether scopes and tasks may be missing: their records are lost, or they were open when the
/// process died.
[[nodiscard]] inline bool may_lack_work(const trace& loaded) noexcept {
    return has_losses(loaded) || (!loaded.health.finished && loaded.health.open_scopes_unknown);
}

/// Whether a thread without recorded work may have worked: for requests that were left out, or in
/// tasks and scopes whose records are lost.
[[nodiscard]] inline bool has_unrecorded_work(const trace& loaded) noexcept {
    return loaded.health.left_out_requests != 0 || has_losses(loaded);
}

/// Whether the scope in which a run worked may be missing: the run lasted up to the end of a
/// session that did not name the scopes that were open then.
[[nodiscard]] inline bool may_lack_scope(const trace& loaded, const slice& run) noexcept {
    return loaded.health.open_scopes_unknown && run.end_ns >= loaded.duration_ns &&
           run.task < loaded.tasks.size() && !loaded.tasks[run.task].end_ns;
}

/// Whether the states of a thread are missing for most of a time, although the session recorded
/// states. The first ones come when the recorder follows the thread, and the last ones are written
/// some time after they happened. Samples show the states of whole pieces of time only.
[[nodiscard]] inline bool lacks_states(const trace& loaded, std::uint32_t thread,
                                       std::int64_t from_ns, std::int64_t to_ns) {
    using coroscope::trace::thread_state_source;
    const thread_states& states = loaded.states;
    if (states.source == thread_state_source::samples) {
        from_ns = states.around(thread, from_ns).start_ns;
        to_ns = states.around(thread, to_ns).end_ns;
    } else if (states.source != thread_state_source::switches) {
        return false;
    }
    const state_times times = states.between(thread, from_ns, to_ns);
    return times.unknown_ns > times.known_ns();
}

}  // namespace coroscope::analysis::inline model
