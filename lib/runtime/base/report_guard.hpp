// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/detail/thread_state.hpp>

#include "compiler_barrier.hpp"

namespace coroscope::runtime::inline base {

/// Marks the thread as reporting for its lifetime. A report is made inside an allocator, a call or
/// a lock of the C library. An allocation, a call or a lock in the report must not be reported
/// again: the guard is then false.
class report_guard {
public:
    report_guard() noexcept : outermost_(!detail::this_thread.reporting) {
        detail::this_thread.reporting = true;
        compiler_barrier();
    }
    report_guard(const report_guard&) = delete;
    report_guard& operator=(const report_guard&) = delete;
    ~report_guard() {
        compiler_barrier();
        if (outermost_) detail::this_thread.reporting = false;
    }
    explicit operator bool() const noexcept { return outermost_; }

private:
    bool outermost_;
};

}  // namespace coroscope::runtime::inline base
