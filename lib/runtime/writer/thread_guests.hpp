// SPDX-License-Identifier: Apache-2.0
#pragma once

// Thread guests: the functions of rooms above this one that this room calls when a thread changes
// or ends.
//
// The table is constant (process/thread_guests.cpp), so it can be used before the first constructor
// runs, in a signal handler and in a forked child. Each function may be null. The functions are
// called in the table's order.

#include <span>

#include "thread_record.hpp"

namespace coroscope::runtime::inline writer {

struct thread_guest {
    /// The thread ends and has stopped recording. Must free the guest's data in the record. Called
    /// on that thread, without a lock.
    void (*leave)(thread_record& record) noexcept = nullptr;

    /// Called in a forked child if its only thread has a record. Must be async-signal-safe.
    void (*after_fork)(thread_record& record) noexcept = nullptr;

    /// The thread may be in another session now. Called if its gate has, or had, gate_devices.
    void (*follow)() noexcept = nullptr;

    /// The thread may carry another context now. Called while any context carries observers.
    void (*look_at_context)() noexcept = nullptr;

    /// A chunk, or a section of one, begins on this thread. Called if the session overwrites chunks
    /// and the thread carries attributes.
    void (*begin_chunk)() noexcept = nullptr;

    /// Returns whether this thread's exit will still resume coroutines. If so, the thread must go
    /// on recording.
    bool (*resumes_at_exit)() noexcept = nullptr;

    /// Returns whether this thread's exit has begun to resume coroutines.
    bool (*resumed_at_exit)() noexcept = nullptr;
};

std::span<const thread_guest> thread_guests() noexcept;

/// Calls `Function` of each guest that has one. Not inlined, because calls are rare.
template <auto Function, class... Arguments>
[[gnu::noinline]] void tell_guests(Arguments&... arguments) noexcept {
    for (const thread_guest& each : thread_guests())
        if (each.*Function != nullptr) (each.*Function)(arguments...);
}

/// Returns whether `Function` of any guest returns true.
template <auto Function>
[[gnu::noinline]] bool any_guest() noexcept {
    for (const thread_guest& each : thread_guests())
        if (each.*Function != nullptr && (each.*Function)()) return true;
    return false;
}

}  // namespace coroscope::runtime::inline writer
