// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps of the runtime around a fork. All locks are held over the fork, so that each is free in
// the child whatever the parent's other threads were doing. In the child the runtime forgets the
// state that belongs to the parent.
//
// There is no other mechanism for forks: each part that has a lock, or something to forget, is a
// guest.

#include <atomic>
#include <cstdint>

namespace coroscope::runtime::inline base {

/// A fork takes the guests' locks in this order. Code that takes several of them must use the same
/// order. Locks under which the program's code is called come first, because that code may need the
/// others. In the child the guests forget in this order, too.
enum class fork_rank : std::uint8_t {
    process,    ///< the session that the environment asks for
    steps,      ///< the count of steps
    failures,   ///< anomaly detection
    waking,     ///< the waking thread
    sessions,   ///< sessions_mutex()
    leftovers,  ///< remains of sessions
    outer,      ///< integrations' locks; under these the next may be taken
    inner,
    sites,      ///< sites_mutex()
    registry,   ///< registry_mutex()
    observers,  ///< observers that the child's thread carries
};

struct fork_guest {
    fork_rank rank;
    /// Take and release the guest's lock around the fork, in the parent and in the child. Either
    /// both are null or none is.
    void (*lock)(fork_guest& self) noexcept = nullptr;
    void (*unlock)(fork_guest& self) noexcept = nullptr;
    /// Called in the child, when all locks are free. Must be async-signal-safe.
    void (*in_child)() noexcept = nullptr;
    std::atomic<fork_guest*> next{nullptr};  ///< in the list of all guests
    fork_guest* locked_before = nullptr;     ///< while a fork has locked the guest
};

/// Returns a guest whose lock is the object `Lock`. The object is a template argument, so that the
/// guest can be a constant.
template <auto& Lock>
constexpr fork_guest guest_with(fork_rank rank) noexcept {
    return {rank, [](fork_guest&) noexcept { Lock.lock(); },
            [](fork_guest&) noexcept { Lock.unlock(); }};
}

/// Adds a guest to all later forks of the process. Must be called once for each guest, and not in a
/// signal handler.
void join_forks(fork_guest& guest) noexcept;

}  // namespace coroscope::runtime::inline base
