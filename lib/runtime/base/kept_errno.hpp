// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace coroscope::runtime::inline base {

/// Restores the program's errno at the end of its lifetime: the program may have a scope between a
/// failing call and the check of errno. Every function that makes a system call or allocates for a
/// scope or a transition must have one.
class kept_errno {
public:
    kept_errno() noexcept : before_(errno) {}
    kept_errno(const kept_errno&) = delete;
    kept_errno& operator=(const kept_errno&) = delete;
    ~kept_errno() { errno = before_; }

private:
    int before_;
};

}  // namespace coroscope::runtime::inline base
