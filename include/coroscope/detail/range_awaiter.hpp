// SPDX-License-Identifier: Apache-2.0
#pragma once

// The awaiter of an awaitable whose await is a range, from the start of the await to just before
// the coroutine goes on.

#include <coroutine>

#include <coroscope/config.hpp>
#include <coroscope/detail/awaiter.hpp>
#include <coroscope/range.hpp>

namespace coroscope::detail {
inline namespace COROSCOPE_ABI {

/// The operand must live until the end of the await expression. If the coroutine is destroyed
/// before, the range ends then.
template <class Operand>
class range_awaiter {
public:
    range_awaiter(Operand&& operand, const char* label)
        : slot_(static_cast<Operand&&>(operand)), label_(label) {}
    range_awaiter(const range_awaiter&) = delete;
    range_awaiter& operator=(const range_awaiter&) = delete;

    bool await_ready() {
        range_ = range(label_);
        return static_cast<bool>(slot_.awaiter().await_ready());
    }
    template <class Promise>
    COROSCOPE_DETAIL_APART auto await_suspend(std::coroutine_handle<Promise> coroutine) {
        return slot_.awaiter().await_suspend(coroutine);
    }
    decltype(auto) await_resume() {
        range_.end();
        return detail::resume_value(slot_.awaiter());
    }

private:
    operand_slot<Operand> slot_;
    const char* label_;
    range range_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope::detail
