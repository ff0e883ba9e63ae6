// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells the thread sanitizer of a stack of one's own, which it must follow. Empty in other builds.

#if defined(__SANITIZE_THREAD__)
#define COROSCOPE_DETAIL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COROSCOPE_DETAIL_TSAN 1
#endif
#endif

#if defined(COROSCOPE_DETAIL_TSAN)
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif

namespace coroscope::detail {

#if defined(COROSCOPE_DETAIL_TSAN)

class sanitized_stack {
public:
    sanitized_stack() noexcept : own_(__tsan_create_fiber(0)) {}
    ~sanitized_stack() { __tsan_destroy_fiber(own_); }
    sanitized_stack(const sanitized_stack&) = delete;
    sanitized_stack& operator=(const sanitized_stack&) = delete;

    /// Before the stack is switched to, and after control came back from it by unwinding.
    void enter() noexcept {
        caller_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(own_, 0);
    }
    void entered() noexcept {
        if (__tsan_get_current_fiber() == own_) leave();
    }
    /// Before it is switched away from.
    void leave() noexcept { __tsan_switch_to_fiber(caller_, 0); }

private:
    void* own_;
    void* caller_ = nullptr;
};

#else

struct sanitized_stack {
    void enter() noexcept {}
    void entered() noexcept {}
    void leave() noexcept {}
};

#endif

}  // namespace coroscope::detail
