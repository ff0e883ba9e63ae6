// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock that is free in a forked child (forks.hpp). Integrations use it.
//
// The holder must not fork and must not call code that forks.

#include "forks.hpp"
#include "own_mutex.hpp"

namespace coroscope::runtime::inline base {

class forked_mutex : public fork_guest {
public:
    explicit constexpr forked_mutex(fork_rank order) noexcept
        : fork_guest{order, [](fork_guest& self) noexcept { of(self).lock(); },
                     [](fork_guest& self) noexcept { of(self).unlock(); }} {}
    forked_mutex(const forked_mutex&) = delete;
    forked_mutex& operator=(const forked_mutex&) = delete;

    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }

private:
    static forked_mutex& of(fork_guest& self) noexcept { return static_cast<forked_mutex&>(self); }

    own_mutex mutex_;
};

}  // namespace coroscope::runtime::inline base
