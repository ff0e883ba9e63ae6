// SPDX-License-Identifier: Apache-2.0
#pragma once

// A list of callbacks that is closed once. Closing runs them in the order in which they were added.
// Adding is lock-free, on any thread. The list never owns memory: the creator of a callback must
// place the node, and the list does not touch the node once it runs.

#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::detail {

/// A node. It must be aligned to at least 4 bytes, so that the list can mark its pointers.
struct callback {
    using runner = void (*)(callback&) noexcept;

    explicit callback(runner called) noexcept : run(called) {}
    callback(const callback&) = delete;
    callback& operator=(const callback&) = delete;

    runner run;                ///< may destroy the callback
    callback* next = nullptr;  ///< belongs to the list
};

class callback_list {
public:
    callback_list() noexcept = default;
    callback_list(const callback_list&) = delete;
    callback_list& operator=(const callback_list&) = delete;

    /// Returns false, and does not take `added`, if the list is closed. A callback that is added
    /// while the list is being closed runs in that closing.
    [[nodiscard]] COROSCOPE_API bool add(callback& added) noexcept;

    /// Runs the added callbacks. Returns true for the one call that closed the list. If another
    /// thread is closing it, waits for that thread, so on return every callback has run. The
    /// exception is a callback that closes its own list: it does not wait.
    COROSCOPE_API bool close() noexcept;

    /// As close(), but does not wait: callbacks that another thread is running may still run on
    /// return.
    COROSCOPE_API bool try_close() noexcept;

    COROSCOPE_API bool closed() const noexcept;

private:
    std::uintptr_t state_ = 0;      ///< the newest callback and the state of the list
    const void* closer_ = nullptr;  ///< the thread that closes
};

}  // namespace coroscope::detail
