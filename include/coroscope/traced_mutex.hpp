// SPDX-License-Identifier: Apache-2.0
#pragma once

// traced_mutex: a mutex that records the waits for it, with the task that held it meanwhile.
//
//   coroscope::traced_mutex<> guard("cache");                    // of std::mutex
//   coroscope::traced_mutex<std::shared_mutex> routes("routes");
//   const std::scoped_lock lock(guard);
//
// M may be any type with lock(), try_lock() and unlock(): the standard library's mutexes, those of
// Boost.Fiber, TBB's mutex, spin_mutex, rw_mutex and spin_rw_mutex. traced_mutex<M> has the
// functions for shares and time-outs that M has, so that it meets the same named requirements:
// std::scoped_lock, std::unique_lock and std::shared_lock take it. A condition variable must be of
// the kind that takes any lock: std::condition_variable_any, boost::fibers::condition_variable_any.
//
// Thread-safety: as M. While nothing records, each call is M's own after one test. While a session
// records, lock() tries try_lock() first, and waits in M's lock() if that fails. A holder of a
// share is not remembered; a writer is. A recursive mutex is acquired and released at the outermost
// level.

#include <mutex>

#include <coroscope/config.hpp>
#include <coroscope/detail/thread_state.hpp>
#include <coroscope/detail/traced_wait.hpp>
#include <coroscope/resource.hpp>

namespace coroscope {

/// Whether the holder of an M may lock it again. To be specialised for other recursive mutexes.
template <class M>
inline constexpr bool is_recursive_mutex = false;
template <>
inline constexpr bool is_recursive_mutex<std::recursive_mutex> = true;
template <>
inline constexpr bool is_recursive_mutex<std::recursive_timed_mutex> = true;

namespace detail {

/// The number of times that the holder has locked a recursive mutex.
template <bool Recursive>
class lock_depth {
public:
    bool enter() noexcept { return depth_++ == 0; }
    bool leave() noexcept { return --depth_ == 0; }

private:
    unsigned depth_ = 0;
};
template <>
class lock_depth<false> {
public:
    static constexpr bool enter() noexcept { return true; }
    static constexpr bool leave() noexcept { return true; }
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

template <class M = std::mutex>
class traced_mutex {
public:
    using mutex_type = M;

    /// `name` must live as long as the mutex. Many mutexes may have one name.
    constexpr explicit traced_mutex(const char* name) : noted_(name) {}
    traced_mutex(const traced_mutex&) = delete;
    traced_mutex& operator=(const traced_mutex&) = delete;

    void lock() {
        if (!detail::notes_waits()) [[likely]] {
            mutex_.lock();
            depth_.enter();
        } else if (mutex_.try_lock()) {
            enter();
        } else {
            lock_after_wait();
        }
    }

    bool try_lock() { return mutex_.try_lock() && enter(); }

    void unlock() {
        if (depth_.leave()) noted_.released();
        mutex_.unlock();
    }

    template <class Duration>
    bool try_lock_for(const Duration& timeout)
        requires requires(M& mutex) { mutex.try_lock_for(timeout); }
    {
        return lock_in_time([&] { return mutex_.try_lock_for(timeout); });
    }
    template <class TimePoint>
    bool try_lock_until(const TimePoint& deadline)
        requires requires(M& mutex) { mutex.try_lock_until(deadline); }
    {
        return lock_in_time([&] { return mutex_.try_lock_until(deadline); });
    }

    void lock_shared()
        requires requires(M& mutex) { mutex.lock_shared(); }
    {
        if (!detail::notes_waits()) [[likely]] {
            mutex_.lock_shared();
        } else if (mutex_.try_lock_shared()) {
            noted_.acquired_shared();
        } else {
            detail::traced_wait wait(noted_);
            mutex_.lock_shared();
            wait.acquired_shared();
        }
    }

    bool try_lock_shared()
        requires requires(M& mutex) { mutex.try_lock_shared(); }
    {
        return mutex_.try_lock_shared() && enter_shared();
    }

    void unlock_shared()
        requires requires(M& mutex) { mutex.unlock_shared(); }
    {
        mutex_.unlock_shared();
    }

    template <class Duration>
    bool try_lock_shared_for(const Duration& timeout)
        requires requires(M& mutex) { mutex.try_lock_shared_for(timeout); }
    {
        return lock_shared_in_time([&] { return mutex_.try_lock_shared_for(timeout); });
    }
    template <class TimePoint>
    bool try_lock_shared_until(const TimePoint& deadline)
        requires requires(M& mutex) { mutex.try_lock_shared_until(deadline); }
    {
        return lock_shared_in_time([&] { return mutex_.try_lock_shared_until(deadline); });
    }

private:
    bool enter() noexcept {
        if (depth_.enter()) noted_.acquired();
        return true;
    }
    bool enter_shared() noexcept {
        noted_.acquired_shared();
        return true;
    }

    [[gnu::noinline]] void lock_after_wait() {
        detail::traced_wait wait(noted_);
        mutex_.lock();
        depth_.enter();
        wait.acquired();
    }

    template <class Lock>
    bool lock_in_time(const Lock& lock_mutex) {
        if (!detail::notes_waits()) [[likely]]
            return lock_mutex() && (depth_.enter(), true);
        if (mutex_.try_lock()) return enter();
        detail::traced_wait wait(noted_);
        if (!lock_mutex()) return false;
        depth_.enter();
        wait.acquired();
        return true;
    }

    template <class Lock>
    bool lock_shared_in_time(const Lock& lock_mutex) {
        if (!detail::notes_waits()) [[likely]]
            return lock_mutex();
        if (mutex_.try_lock_shared()) return enter_shared();
        detail::traced_wait wait(noted_);
        if (!lock_mutex()) return false;
        wait.acquired_shared();
        return true;
    }

    M mutex_{};
    [[no_unique_address]] resource noted_;
    [[no_unique_address]] detail::lock_depth<is_recursive_mutex<M>> depth_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
