// SPDX-License-Identifier: Apache-2.0
#pragma once

// traced_semaphore: a semaphore that records the waits for it.
//
//   coroscope::traced_semaphore<> slots("uploads", 4);   // of std::counting_semaphore<>
//   slots.acquire();
//   …
//   slots.release();
//
// S may be std::counting_semaphore<N> or a type with the same functions. The record of a wait names
// the first task that released the semaphore during the wait, if it had acquired it before. Any
// thread may release a semaphore; one that did not acquire it is not named.
//
// Thread-safety: as S. While nothing records, each call is S's own after one test. While a session
// records, acquire() tries try_acquire() first, and waits in S's acquire() if that fails.

#include <cstddef>
#include <cstdint>
#include <semaphore>

#include <coroscope/config.hpp>
#include <coroscope/detail/thread_state.hpp>
#include <coroscope/detail/traced_wait.hpp>
#include <coroscope/resource.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

template <class S = std::counting_semaphore<>>
class traced_semaphore {
public:
    using semaphore_type = S;

    /// `name` must live as long as the semaphore. `desired`, its first count, is the capacity that
    /// the trace shows.
    constexpr explicit traced_semaphore(const char* name, std::ptrdiff_t desired)
        : semaphore_(desired),
          noted_(name, resource_kind::semaphore, static_cast<std::uint32_t>(desired)) {}
    traced_semaphore(const traced_semaphore&) = delete;
    traced_semaphore& operator=(const traced_semaphore&) = delete;

    static constexpr std::ptrdiff_t max() noexcept { return S::max(); }

    void acquire() {
        if (!detail::notes_waits()) [[likely]]
            return semaphore_.acquire();
        if (try_acquire()) return;
        detail::traced_wait wait(noted_);
        semaphore_.acquire();
        wait.acquired();
    }

    bool try_acquire() noexcept(noexcept(semaphore_.try_acquire())) {
        if (!semaphore_.try_acquire()) return false;
        noted_.acquired();
        return true;
    }

    template <class Duration>
    bool try_acquire_for(const Duration& timeout) {
        return acquire_in_time([&] { return semaphore_.try_acquire_for(timeout); });
    }
    template <class TimePoint>
    bool try_acquire_until(const TimePoint& deadline) {
        return acquire_in_time([&] { return semaphore_.try_acquire_until(deadline); });
    }

    void release(std::ptrdiff_t update = 1) {
        for (std::ptrdiff_t done = 0; done < update && done < most_noted; ++done) noted_.released();
        semaphore_.release(update);
    }

private:
    static constexpr std::ptrdiff_t most_noted = 16;  // the resource remembers no more holders

    template <class Acquire>
    bool acquire_in_time(const Acquire& acquire_semaphore) {
        if (!detail::notes_waits()) [[likely]]
            return acquire_semaphore();
        if (try_acquire()) return true;
        detail::traced_wait wait(noted_);
        if (!acquire_semaphore()) return false;
        wait.acquired();
        return true;
    }

    S semaphore_;
    [[no_unique_address]] resource noted_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
