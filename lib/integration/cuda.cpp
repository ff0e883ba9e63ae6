// SPDX-License-Identifier: Apache-2.0
#include <coroscope/integration/cuda.hpp>

#include "../runtime/devices.hpp"

namespace coroscope::detail {

void note_stream_wait(void* stream, std::uint64_t task, bool per_thread) noexcept {
    runtime::record_stream_wait(stream, task, per_thread);
}

noted_event_wait note_event_wait(const void* event, std::uint64_t task) noexcept {
    return runtime::record_event_wait(event, task);
}

void look_at_event(noted_event_wait& wait, const void* event) noexcept {
    if (wait.ticks != 0) wait.latest = runtime::find_event(event);
}

void note_event_told(const noted_event_wait& wait, std::uint64_t task) noexcept {
    if (wait.ticks != 0 && wait.latest != wait.noted) runtime::record_latest_event(wait, task);
}

}  // namespace coroscope::detail
