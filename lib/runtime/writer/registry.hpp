// SPDX-License-Identifier: Apache-2.0
#pragma once

// Registers threads, and removes them at their end.
//
// A thread is registered at its first call of the runtime with an unknown gate. For each session
// that a thread records into, the thread gets a binding (session_table.hpp): the place of its
// thread body in the trace, and the chunk that it owns. refill() (refill.hpp) replaces a full chunk
// by the next one.
//
// Locks: registry_mutex() guards the list of threads, the table of sessions and the gates' global
// bit. A recording thread takes this lock once per session, when it is bound to the session, and
// never per record.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>

#include "gate.hpp"
#include "session_table.hpp"
#include "thread_list.hpp"
#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {

/// Holds registry_mutex() for its lifetime, and lets the caller allocate and free memory under it.
/// The program's malloc may have a scope whose refill would need the same lock. If the chunk is
/// full when such a scope ends, the scope's record is counted as lost. Must be a local variable.
class allocating_lock {
public:
    allocating_lock() noexcept;
    allocating_lock(const allocating_lock&) = delete;
    allocating_lock& operator=(const allocating_lock&) = delete;
    ~allocating_lock();

private:
    thread_record* record_;
    const void* before_ = nullptr;
};

/// Returns the thread's record, and makes it if necessary. Returns null if the thread has left
/// already or memory is short.
thread_record* register_thread(thread_state& thread) noexcept;

/// For its lifetime the thread's carried attributes do not belong to the context of its mark. A
/// chunk that is opened meanwhile does not describe them.
class context_change {
public:
    context_change() noexcept;
    ~context_change();
    context_change(const context_change&) = delete;
    context_change& operator=(const context_change&) = delete;

private:
    thread_record* record_;
    bool before_ = false;
};

/// Returns whether the thread has no record yet or has left. Its records must then be counted as
/// lost.
bool goes_unrecorded(const thread_state& thread) noexcept;

/// Excludes the calling thread from all recording. Only threads of the runtime may call it. Such a
/// thread must run no code of the program, except the program's malloc, which may have scopes.
void leave_thread_unobserved() noexcept;

/// Returns the value of thread_state::stack_bytes for a stack of `bytes` bytes: `bytes` if scopes
/// on that stack may end on the fast path, else 0.
std::uintptr_t fast_stack_bytes(std::uintptr_t bytes) noexcept;

/// Calls end_binding() under registry_mutex().
void release_binding(binding& bound) noexcept;

/// Sets the last place at which a record may begin. Code that changes the cursor must clear the
/// limit first, because a signal handler may record at any moment.
void set_limit(thread_state& thread, char* limit) noexcept;
void clear_limit(thread_state& thread) noexcept;

/// Takes the thread's chunk away from its cursor. The binding keeps it.
void leave_binding(thread_state& thread, thread_record& record) noexcept;

/// For a forked child: its first thread that records anything calls `start`, once. If the child
/// forks before that, its own child calls `start`, too. Async-signal-safe.
void start_at_first_record(void (*start)() noexcept) noexcept;

/// Calls the `start` of start_at_first_record() now, unless it has been called already.
void start_what_was_put_off() noexcept;

}  // namespace coroscope::runtime::inline writer
