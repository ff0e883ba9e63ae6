// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace coroscope::runtime {

/// The program's errno, as it was: a scope may stand between a call and the look at its error. For every way from
/// a scope or a transition to a system call or an allocation.
class kept_errno {
public:
    kept_errno() noexcept : before_(errno) {}
    kept_errno(const kept_errno&) = delete;
    kept_errno& operator=(const kept_errno&) = delete;
    ~kept_errno() { errno = before_; }

private:
    int before_;
};

}  // namespace coroscope::runtime
