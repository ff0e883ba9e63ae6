// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports a task's transitions to the table of live tasks, to a tool's probes and to the recorder
// of devices: the other half of task_recording.cpp. The table takes a task in at its first
// transition, of any kind. The functions are out of line, so that a transition that is only
// recorded costs no more than the test of its gate.

#include <cstdint>

#include <coroscope/async_stack.hpp>
#include <coroscope/detail/task_state.hpp>

#include "transition_gates.hpp"

namespace coroscope::runtime::inline tasks {

enum class task_transition : std::uint8_t { spawn, resume, suspend, finish };

/// Called at each transition, on the thread on which it happens. `other`: the parent of a spawned
/// task; `site`: the spawn's or the suspension's, 0 if unknown.
using transition_listener = void (*)(task_transition what, std::uint64_t task, std::uint64_t other,
                                     std::uint32_t site) noexcept;
/// The listener is called on threads whose gate is not closed. At most two listeners are possible
/// at a time; a third is ignored.
void add_transition_listener(transition_listener listener) noexcept;
/// A call may be under way when it returns.
void remove_transition_listener(transition_listener listener) noexcept;

// Each does nothing if live tasks are not tracked and there is no listener.

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
/// It has a better spawn site than the one that it began with.
void show_named(std::uint64_t task, std::uint32_t site) noexcept;
void show_ended(std::uint64_t task) noexcept;

}  // namespace coroscope::runtime::inline tasks
