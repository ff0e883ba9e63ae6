// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of the process's live tasks: their names, states and awaiters. It serves stacks for the
// program (async_stack.cpp, anomaly.cpp) and for a debugger, which reads it from a stopped process
// or a core file (tools/gdb/coroscope.py; docs/how-to/live.md has the layout).
//
// A fixed number of slots in memory that is mapped at the first use and never given back; a task's
// slot is found by its id, at most `live_probes` places from home. Any thread may call any of these
// functions; none allocates or locks, but for set_live_tracking(). A slot is written by the thread
// on which its task makes a transition; readers get words that are whole, and may meet a task in
// the middle of one.

#include <cstdint>

#include <coroscope/async_stack.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/thread_state.hpp>

#include "../writer/sites.hpp"

namespace coroscope::runtime::inline tasks {

inline constexpr std::uint32_t live_slot_count = 1U << 18;
inline constexpr std::uint32_t live_probes = 8;
inline constexpr unsigned live_epoch_shift = 44;  // below: the task's id

/// One task. A key of zero is free, one of another epoch is left over and as good as free.
struct alignas(64) live_slot {
    std::uint64_t key;      ///< epoch << 44 | task; all ones while it is filled
    std::uint64_t parent;   ///< 0: none
    std::uint64_t awaiter;  ///< 0: none, or unknown
    std::uint64_t
        status;  ///< async_state << 32 | site of the await it is suspended in, or came from last
    std::int64_t spawn_ns;  ///< CLOCK_MONOTONIC; 0: unknown
    std::int64_t since_ns;  ///< of the last transition
    std::uint32_t spawn_site;
    std::uint32_t
        thread;  ///< the kernel's id of the thread of the last transition; 0: it was ending
};
static_assert(sizeof(live_slot) == 64);

/// The root of the table for a debugger. Exported under a C name, so that a stripped library has
/// it, too.
struct live_root {
    char magic[8];
    std::uint32_t slot_bytes;
    std::uint32_t slot_count;
    live_slot* slots;                ///< null until first used
    std::uint64_t epoch;             ///< counts the times that tracking was turned on; 0: it is off
    std::uint64_t no_room;           ///< transitions of tasks for which the table had no place
    const known_site* const* sites;  ///< the newest; each names the one before it
};
extern "C" COROSCOPE_API live_root coroscope_live_root;

/// The facts of a task that are fixed at its start.
struct live_origin {
    std::uint64_t task;
    std::uint64_t parent;
    std::uint32_t spawn_site;
};

/// One task's slot at one moment.
struct live_task {
    std::uint64_t parent;
    std::uint64_t awaiter;
    async_state state;
    std::uint32_t await_site;
    std::int64_t since_ns;
    std::uint32_t spawn_site;
    std::uint32_t thread;
};

/// The gate of a thread that has met the runtime by now.
std::int32_t settled_gate() noexcept;

/// Returns whether live tasks are tracked, by this thread's own gate.
[[gnu::always_inline]] inline bool tracks_live() noexcept {
    std::int32_t gate = detail::load_gate();
    if (gate < 0) [[unlikely]]
        gate = settled_gate();
    return (gate & detail::gate_live) != 0;
}

/// CLOCK_MONOTONIC, in nanoseconds: a debugger reads the same clock.
std::int64_t live_now() noexcept;

/// A task that begins at `now_ns`, or (0) that is found to exist.
live_slot* add_live(const live_origin& task, async_state state, std::int64_t now_ns) noexcept;
live_slot* find_live(std::uint64_t task) noexcept;
void change_live(live_slot& slot, async_state state, std::uint32_t await_site,
                 std::int64_t now_ns) noexcept;
void end_live(std::uint64_t task) noexcept;
void set_live_awaiter(live_slot& slot, std::uint64_t awaiter) noexcept;
void set_live_spawn_site(live_slot& slot, std::uint32_t spawn_site) noexcept;

/// A transition of a task that may be older than the tracking: `origin()` then gives its facts.
/// Returns null if there is no room for it.
template <class Origin>
live_slot* show_live(std::uint64_t task, async_state state, std::uint32_t await_site,
                     std::int64_t now_ns, const Origin& origin) noexcept {
    live_slot* slot = find_live(task);
    if (slot == nullptr) slot = add_live(origin(), state, 0);
    if (slot != nullptr) change_live(*slot, state, await_site, now_ns);
    return slot;
}

/// Returns false if the task is not in the table (any more).
bool read_live(std::uint64_t task, live_task& into) noexcept;

/// The reasons for which the tracking is on: the program asked for it, or a part of the runtime
/// needs it.
enum class live_reason : std::uint8_t { wished, needed };

/// False when there is no memory for the table. Wishes do not add up, needs do.
bool set_live_tracking(live_reason reason, bool on) noexcept;

}  // namespace coroscope::runtime::inline tasks
