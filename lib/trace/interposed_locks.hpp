// SPDX-License-Identifier: Apache-2.0
#pragma once

// The connection between the preloaded library coroscope-interpose, which sees the program's locks,
// and the recorder. interposed_calls.hpp is the same for calls.

#include <cstdint>

#include <coroscope/trace/lock_format.hpp>

namespace coroscope::trace {

/// A moment of a thread. A member is 0 if it is unknown.
struct lock_moment {
    std::uint64_t ticks;
    std::uint64_t mark;  ///< of the current task and thread
};

/// A wait that ended.
struct interposed_wait {
    const void* lock;
    std::uint64_t began;  ///< ticks
    lock_moment released;
    std::uint32_t holder;  ///< the kernel's id of the thread that held the lock; 0: unknown
    lock_kind kind;
    std::uint32_t bits;  ///< lock_wait_bits
};

/// The recorder's functions. They are signal-safe, allocate nothing and keep errno. They may be
/// called on any thread and at any time after the connection.
struct lock_recorder {
    /// Returns the time in ticks, or 0 if waits must not be recorded on this thread.
    std::uint64_t (*begin)() noexcept;
    /// The moment of a release, or of a notification. The mark is 0 on a thread that does not
    /// record.
    lock_moment (*now)() noexcept;
    /// `wait.began` must be a result of begin() or now(), and not 0.
    void (*end)(const interposed_wait& wait) noexcept;
};

/// The name of void(const lock_recorder*), exported by the library. The argument must stay valid.
/// A change of lock_recorder changes the number.
inline constexpr const char* connect_locks_name = "coroscope_connect_locks_1";

}  // namespace coroscope::trace
