// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the table of live tasks, a tool's probes and the recorder of devices are told of a task's transitions: the other half of
// task_recording.cpp. A task that the table does not know is taken in at whatever transition comes first. Out of line, so that a
// transition that is only recorded has no more of it than the test of its gate.

#include <cstdint>

#include <coroscope/async_stack.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope::runtime {

/// Is anybody to be told, by a gate that is loaded already? If only to find out.
[[gnu::always_inline]] inline bool may_track(std::int32_t gate) noexcept {
    return (gate & (detail::gate_live | detail::gate_devices | detail::gate_careful)) != 0;
}

/// Does nothing but recording take part here, if that?
[[gnu::always_inline]] inline bool no_more_than_records(std::int32_t gate) noexcept {
    return (gate & ~(detail::gate_local | detail::gate_global)) == 0;
}
/// Does something record here, and nothing else take part?
[[gnu::always_inline]] inline bool only_records(std::int32_t gate) noexcept {
    return no_more_than_records(gate) && gate != 0;
}

enum class task_transition : std::uint8_t { spawn, resume, suspend, finish };

/// Called at each transition, wherever it happens. `other`: the parent of a spawned task; `site`: the spawn's or the
/// suspension's, 0 where it is unknown.
using transition_listener = void (*)(task_transition what, std::uint64_t task, std::uint64_t other,
                                     std::uint32_t site) noexcept;
/// It hears of threads whose gate has a reason to be looked at. At most two listen at a time, and a third is not told.
void add_transition_listener(transition_listener listener) noexcept;
/// A call may be under way when it returns.
void remove_transition_listener(transition_listener listener) noexcept;

// Each does nothing where live tasks are not tracked and nobody listens.

void show_spawn(const detail::task_state& task, bool started) noexcept;
/// The task suspends at that site, or runs.
void show(const detail::task_state& task, async_state state, std::uint32_t await_site) noexcept;
void show_end(const detail::task_state& task) noexcept;
/// `awaiter` suspends, and `awaited` runs.
void show_transfer(const detail::task_state& awaiter, const detail::task_state& awaited) noexcept;
/// `finished` is over, and `resumed`, which awaited it, runs.
void show_hand_back(const detail::task_state& finished, const detail::task_state& resumed) noexcept;

// The same for tasks whose state is not at hand: of an integration, or a job.

void show_spawned(std::uint64_t task, std::uint64_t parent, std::uint32_t site) noexcept;
void show_suspended(std::uint64_t task, std::uint32_t await_site) noexcept;
void show_running(std::uint64_t task) noexcept;
void show_awaiter(std::uint64_t task, std::uint64_t awaiter) noexcept;
void show_ended(std::uint64_t task) noexcept;

}  // namespace coroscope::runtime
