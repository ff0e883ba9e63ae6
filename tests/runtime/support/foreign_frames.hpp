// SPDX-License-Identifier: Apache-2.0
#pragma once

// Common parts of the coroutine types of other libraries that are made for one test: they own their
// frame.

#include <coroutine>
#include <utility>

namespace coroscope::test {

inline constexpr const char* long_text = "a text that does not fit where a short one does";

}  // namespace coroscope::test

namespace foreign {

template <class Promise>
struct frame_owner {
    using handle_type = std::coroutine_handle<Promise>;
    explicit frame_owner(Promise& promise) noexcept : handle(handle_type::from_promise(promise)) {}
    frame_owner(frame_owner&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    frame_owner& operator=(frame_owner&&) = delete;
    ~frame_owner() {
        if (handle) handle.destroy();
    }
    handle_type handle;
};

struct suspends_at_both_ends {
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void unhandled_exception() const { throw; }
};

}  // namespace foreign
