// SPDX-License-Identifier: Apache-2.0
#pragma once

// resource: records the waits for a thing that a limited number of tasks or threads can have at a
// time: a mutex, a semaphore, a pool of connections, a bounded channel.
//
//   coroscope::resource slots("db.connections", coroscope::resource_kind::pool, 8);
//
//   if (!pool.try_take()) {
//       const coroscope::resource_wait wait = slots.wait_begin();
//       co_await pool.take();
//       slots.acquired(wait);          // ends the wait and records it
//   }
//   …
//   slots.released();                  // before the connection goes back
//
// traced_mutex.hpp and traced_semaphore.hpp do this for the standard library's types.
//
// A wait may begin on one thread and end on another. It belongs to the task that is current at its
// end. A resource of capacity 1 that is not a semaphore or a channel is *exclusive*: it remembers
// its holder, so that the record of a wait names the holder and the moment of the release. Any
// other resource, except a channel, remembers up to sixteen tasks. The record of a wait names the
// first one that released the resource during the wait, if it had acquired it before. Call
// acquired() also when there was no wait, else the holders without a wait are unknown.
//
// Thread-safety: any thread may call any function at any time, with one exception: of an exclusive
// resource, acquired() and released() must be called by the code that holds it, while it holds it.
// All functions are noexcept, allocate nothing, take no lock and make no system call, except that
// the first recorded wait of a resource registers its name. An exclusive resource without waits
// costs a test and a store per call while a session records, another one a call and a look at the
// clock. Without waits neither leaves a record. With COROSCOPE_ENABLED=0 no instruction and no byte
// remain.

#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/thread_state.hpp>

namespace coroscope {

/// The kind of a resource, for readers of the trace.
enum class resource_kind : std::uint8_t { mutex, semaphore, pool, channel, other, future };

namespace detail {

/// A wait that has begun.
struct begun_resource_wait {
    std::uint64_t start = 0;   ///< ticks; 0: nothing recorded when it began
    std::uint64_t holder = 0;  ///< the holder's mark at that time; 0: unknown
};

enum class wait_end : std::uint8_t { acquired, shared, gave_up };

/// The data of a resource. All words but the first four are accessed atomically, and relaxed: the
/// resource itself orders its holders.
struct resource_state {
    const char* name;
    std::uint32_t capacity;
    resource_kind kind;
    bool exclusive;
    std::uint32_t site = 0;      ///< id of its name; 0: not registered yet
    std::uint32_t instance = 0;  ///< 0: no number yet
    std::uint32_t waiting = 0;   ///< exclusive: waits that have begun and not ended; else 1: an
                                 ///< acquisition was noted
    std::uint32_t shared = 0;    ///< exclusive: a share was acquired after the release noted below
    std::uint64_t holder = 0;    ///< exclusive: mark; 0: none, or unknown. Else 1: an acquisition
                                 ///< without a wait was noted
    std::uint64_t releaser = 0;  ///< mark: the last release during a wait
    std::uint64_t released = 0;  ///< ticks of that release
};

/// Begins a wait, if a session records on this thread.
COROSCOPE_API begun_resource_wait begin_resource_wait(resource_state& of) noexcept;
/// Ends a wait that has begun (`start` is not 0) and records it. Unless the wait gave up, it must
/// be called by the code that acquired the resource.
COROSCOPE_API void end_resource_wait(resource_state& of, const begun_resource_wait& wait,
                                     wait_end how) noexcept;
/// For a resource that is not exclusive, or a thread that may not be registered yet: the caller
/// holds the resource.
COROSCOPE_API void note_resource_holder(resource_state& of) noexcept;
/// For an exclusive resource with waits, or another one with noted acquisitions: the caller is
/// about to release it.
COROSCOPE_API void note_resource_release(resource_state& of) noexcept;

COROSCOPE_THREAD_ACCESS void set_holder(resource_state& of) noexcept {
    if (!detail::is_recording()) return;
    const std::uint64_t mark = detail::here().mark;
    if (mark != 0 && of.exclusive) [[likely]]
        __atomic_store_n(&of.holder, mark, __ATOMIC_RELAXED);
    else
        detail::note_resource_holder(of);
}

[[gnu::always_inline]] inline void clear_holder(resource_state& of) noexcept {
    if (__atomic_load_n(&of.waiting, __ATOMIC_RELAXED) != 0) [[unlikely]]
        return detail::note_resource_release(of);
    // Stores only if it changes the value, because threads that are not recorded share the cache
    // line.
    if (__atomic_load_n(&of.holder, __ATOMIC_RELAXED) != 0)
        __atomic_store_n(&of.holder, std::uint64_t{0}, __ATOMIC_RELAXED);
}

}  // namespace detail

inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

/// A wait that has begun: a value of 16 bytes, which may be copied and kept in a coroutine's frame.
/// Each wait should be ended once. A wait that is never ended leaves no record.
class resource_wait {
public:
    /// A wait that has not begun: ending it records nothing.
    constexpr resource_wait() noexcept = default;

private:
    friend class resource;
    explicit resource_wait(const detail::begun_resource_wait& begun) noexcept : begun_(begun) {}
    detail::begun_resource_wait begun_;
};

/// A resource under observation; see above. Many resources may have one name: the trace numbers
/// them.
class resource {
public:
    /// `name` must live as long as the resource; if it is null or empty, the kind's name is used.
    /// `capacity` is the number of tasks or threads that can have the resource at a time; 0:
    /// unknown.
    constexpr explicit resource(const char* name, resource_kind kind = resource_kind::mutex,
                                std::uint32_t capacity = 1) noexcept
        : state_{name, capacity, kind,
                 capacity == 1 && kind != resource_kind::semaphore &&
                     kind != resource_kind::channel} {}
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;

    /// Begins a wait: the resource is not available, and the caller is about to wait for it.
    [[nodiscard]] resource_wait wait_begin() noexcept {
        if (!detail::is_recording()) [[likely]]
            return {};
        return resource_wait(detail::begin_resource_wait(state_));
    }

    /// The caller has acquired the resource. `wait` ends, if the caller had to wait.
    void acquired() noexcept { detail::set_holder(state_); }
    void acquired(const resource_wait& wait) noexcept {
        if (wait.begun_.start == 0) [[likely]]
            return acquired();
        detail::end_resource_wait(state_, wait.begun_, detail::wait_end::acquired);
    }

    /// As above, for one of several that share the resource, such as a reader of a shared mutex.
    /// The caller does not become the holder, and must not call released().
    void acquired_shared() noexcept {
        if (__atomic_load_n(&state_.waiting, __ATOMIC_RELAXED) != 0) [[unlikely]]
            __atomic_store_n(&state_.shared, 1U, __ATOMIC_RELAXED);
    }
    void acquired_shared(const resource_wait& wait) noexcept {
        if (wait.begun_.start != 0)
            detail::end_resource_wait(state_, wait.begun_, detail::wait_end::shared);
        acquired_shared();
    }

    /// The wait ends without the resource: it timed out or was cancelled. It is recorded, too.
    void gave_up(const resource_wait& wait) noexcept {
        if (wait.begun_.start != 0)
            detail::end_resource_wait(state_, wait.begun_, detail::wait_end::gave_up);
    }

    /// The caller is about to release the resource. Must be called before the release, because
    /// after it the next holder may already have called acquired().
    void released() noexcept { detail::clear_holder(state_); }

private:
    detail::resource_state state_;
};

#else

class resource_wait {};

class resource {
public:
    constexpr explicit resource(const char*, resource_kind = resource_kind::mutex,
                                std::uint32_t = 1) noexcept {}
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    [[nodiscard]] resource_wait wait_begin() noexcept { return {}; }
    void acquired() noexcept {}
    void acquired(const resource_wait&) noexcept {}
    void acquired_shared() noexcept {}
    void acquired_shared(const resource_wait&) noexcept {}
    void gave_up(const resource_wait&) noexcept {}
    void released() noexcept {}
};

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
