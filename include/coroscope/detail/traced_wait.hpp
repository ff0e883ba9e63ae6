// SPDX-License-Identifier: Apache-2.0
#pragma once

// A wait in a block, for the adapters of mutexes and semaphores. If the block is left before the
// resource was acquired, by a time-out or an exception, the wait is recorded as given up.
//
// Thread-safety: used by one task at a time.

#include <coroscope/config.hpp>
#include <coroscope/detail/thread_state.hpp>
#include <coroscope/resource.hpp>

namespace coroscope::detail {
inline namespace COROSCOPE_ABI {

/// Returns whether a session records here, or whether that is unknown; false if compiled out.
[[gnu::always_inline]] inline bool notes_waits() noexcept {
    return COROSCOPE_ENABLED != 0 && detail::is_recording();
}

class traced_wait {
public:
    explicit traced_wait(resource& of) noexcept : of_(of), wait_(of.wait_begin()) {}
    traced_wait(const traced_wait&) = delete;
    traced_wait& operator=(const traced_wait&) = delete;
    ~traced_wait() {
        if (!ended_) of_.gave_up(wait_);
    }

    void acquired() noexcept {
        ended_ = true;
        of_.acquired(wait_);
    }
    void acquired_shared() noexcept {
        ended_ = true;
        of_.acquired_shared(wait_);
    }

private:
    resource& of_;
    resource_wait wait_;
    bool ended_ = false;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope::detail
