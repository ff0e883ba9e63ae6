// SPDX-License-Identifier: Apache-2.0
#pragma once

// A list of callbacks that is closed once: closing runs them, in the order in which they were added.
// Adding is lock-free, on any thread. The list never owns memory: a callback is a node that its maker
// places, and that is not touched by the list once it runs.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

/// 4-byte aligned at least, so that the list can mark its pointers.
struct callback {
    using runner = void (*)(callback&) noexcept;

    explicit callback(runner called) noexcept : run(called) {}
    callback(const callback&) = delete;
    callback& operator=(const callback&) = delete;

    runner run;                ///< may destroy the callback
    callback* next = nullptr;  ///< the list's
};

class callback_list {
public:
    callback_list() noexcept = default;
    callback_list(const callback_list&) = delete;
    callback_list& operator=(const callback_list&) = delete;

    /// False where the list is closed: nothing is taken then. What is added while the list is being
    /// closed runs in that closing.
    [[nodiscard]] COROSCOPE_API bool add(callback& added) noexcept;

    /// Runs what was added. Whoever closes a list that another thread is closing waits until
    /// everything has run, so that on return it always has; but for a callback that closes the list in
    /// which it runs. True for the one call that closed it.
    COROSCOPE_API bool close() noexcept;

    /// The same, but does not wait: what another thread is closing may still be running on return.
    COROSCOPE_API bool try_close() noexcept;

    COROSCOPE_API bool closed() const noexcept;

private:
    std::uintptr_t state_ = 0;      ///< the newest callback, and in what state the list is
    const void* closer_ = nullptr;  ///< the thread that closes
};

}  // namespace coroscope::detail
