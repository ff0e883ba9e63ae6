// SPDX-License-Identifier: Apache-2.0
#include <coroscope/integration/cuda.hpp>

#include <coroscope/integration/asio_task.hpp>

#include "../runtime/devices/devices.hpp"

namespace coroscope {
namespace {

/// Returns the ticks at which the task's suspension in an Asio operation began. Returns 0 if no
/// such suspension has begun; the suspension then begins now.
std::uint64_t begun_ticks(std::uint64_t task) noexcept {
    if (task == 0 || asio::suspending_task() != task) return 0;
    return detail::this_thread.invocation->begun.ticks;
}

}  // namespace

namespace detail {

void note_stream_wait(void* stream, std::uint64_t task, bool per_thread) noexcept {
    runtime::record_stream_wait(begun_ticks(task), stream, task, per_thread);
}

noted_event_wait note_event_wait(const void* event, std::uint64_t task) noexcept {
    return runtime::record_event_wait(begun_ticks(task), event, task);
}

void look_at_event(noted_event_wait& wait, const void* event) noexcept {
    if (wait.ticks != 0) wait.latest = runtime::find_event(event);
}

void note_event_told(const noted_event_wait& wait, std::uint64_t task) noexcept {
    if (wait.ticks != 0 && wait.latest != wait.noted) runtime::record_latest_event(wait, task);
}

}  // namespace detail
}  // namespace coroscope
