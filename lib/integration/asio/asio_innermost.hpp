// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "asio_thread.hpp"

namespace coroscope::asio {

/// The innermost frame of this thread, with all members of its suspension set. If the thread has no
/// frame, because it is ending or memory is short, this is a stand-in for the duration of the
/// block. A suspension that has begun in the stand-in is recorded at the end of the block.
class innermost {
public:
    innermost() noexcept
        : at_(this_thread.invocation != nullptr ? this_thread.invocation : find_outermost()) {
        if (at_->is(frame_suspends_plain)) [[unlikely]]
            spell_out(*at_);
    }
    ~innermost() {
        if (at_ == &stand_in_) [[unlikely]]
            forget();
    }
    innermost(const innermost&) = delete;
    innermost& operator=(const innermost&) = delete;

    frame& operator*() const noexcept { return *at_; }
    frame* operator->() const noexcept { return at_; }

private:
    frame* find_outermost() noexcept;
    void forget() noexcept;

    union {
        // NOLINTNEXTLINE(readability-identifier-naming): private as the union is
        frame stand_in_;  ///< constructed by find_outermost()
    };
    frame* at_;
};

}  // namespace coroscope::asio
