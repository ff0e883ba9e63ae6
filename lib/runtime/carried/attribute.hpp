// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the attributes that contexts carry, in the session of the calling thread.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>

namespace coroscope::runtime::inline carried {

/// Records that `task` carries the attribute `handle` from here on, if this thread records. Handle
/// 0 means that it carries none.
void record_attributes(std::uint64_t task, std::uint32_t handle) noexcept;

/// Calls record_attributes() if `carried` has an attribute. Must be called after a record of the
/// task.
inline void record_carried(std::uint64_t task, std::uint64_t carried) noexcept {
    if (carried >> 32 != 0) [[unlikely]]
        record_attributes(task, static_cast<std::uint32_t>(carried >> 32));
}

/// Repeats the record at the beginning of a chunk, for the task that runs on this thread, or for
/// the thread if no task runs.
void repeat_what_is_carried() noexcept;

/// Repeats the record for the task that runs on this thread from here on, if the session overwrites
/// older records.
inline void repeat_carried(std::uint64_t task, std::uint64_t carried) noexcept {
    if ((detail::load_gate() & detail::gate_task_table) != 0) record_carried(task, carried);
}

/// Defines the attribute in this thread's session, if necessary, and returns its serial for use in
/// a record. Returns 0 if there is no attribute or no room for its definition. Returns
/// trace::attribute_unknown if the attribute is unknown.
std::uint32_t announced_serial(std::uint32_t handle) noexcept;

}  // namespace coroscope::runtime::inline carried
