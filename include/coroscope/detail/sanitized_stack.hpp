// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports a custom stack to the sanitizers, which must follow the switches. Empty in other builds.
// The calls must come in this order, the inner two on the custom stack itself:
//
//   enter()  ─► arrive() … leave() ─►  entered()
//
// If the work on the stack returns by itself (a library that prepares the stack, or unwinds a
// function that never ran), the order is:
//
//   enter()  ─►       …            ─►  visited()
//
// Between enter() and arrive(), and up to visited(), AddressSanitizer takes no fake frames. A
// function that is called there has its frame on the stack itself, and may outlive its caller.

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define COROSCOPE_DETAIL_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define COROSCOPE_DETAIL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COROSCOPE_DETAIL_TSAN 1
#elif __has_feature(address_sanitizer)
#define COROSCOPE_DETAIL_ASAN 1
#endif
#endif

#if defined(COROSCOPE_DETAIL_TSAN)
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#elif defined(COROSCOPE_DETAIL_ASAN)
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack, const void* lowest, std::size_t bytes);
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** lowest, std::size_t* bytes);
}
#endif

namespace coroscope::detail {

/// `last`: control does not return to the stack.
#if defined(COROSCOPE_DETAIL_TSAN)

class sanitized_stack {
public:
    sanitized_stack() noexcept : own_(__tsan_create_fiber(0)) {}
    ~sanitized_stack() { __tsan_destroy_fiber(own_); }
    sanitized_stack(const sanitized_stack&) = delete;
    sanitized_stack& operator=(const sanitized_stack&) = delete;

    void set(const void*, std::size_t) noexcept {}
    void enter() noexcept {
        caller_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(own_, 0);
    }
    void arrive() noexcept {}
    void leave(bool = false) noexcept { __tsan_switch_to_fiber(caller_, 0); }
    void entered() noexcept {}
    void visited() noexcept { leave(); }

private:
    void* own_;
    void* caller_ = nullptr;
};

#elif defined(COROSCOPE_DETAIL_ASAN)

class sanitized_stack {
public:
    void set(const void* lowest, std::size_t bytes) noexcept {
        lowest_ = lowest;
        bytes_ = bytes;
    }
    void enter() noexcept { __sanitizer_start_switch_fiber(&caller_fake_, lowest_, bytes_); }
    void arrive() noexcept {
        __sanitizer_finish_switch_fiber(own_fake_, &caller_lowest_, &caller_bytes_);
    }
    void leave(bool last = false) noexcept {
        __sanitizer_start_switch_fiber(last ? nullptr : &own_fake_, caller_lowest_, caller_bytes_);
    }
    void entered() noexcept { __sanitizer_finish_switch_fiber(caller_fake_, nullptr, nullptr); }
    void visited() noexcept {
        arrive();  // finds the caller's stack
        leave(true);
        entered();
    }

private:
    const void* lowest_ = nullptr;
    std::size_t bytes_ = 0;
    const void* caller_lowest_ = nullptr;
    std::size_t caller_bytes_ = 0;
    void* own_fake_ = nullptr;
    void* caller_fake_ = nullptr;
};

#else

struct sanitized_stack {
    void set(const void*, std::size_t) noexcept {}
    void enter() noexcept {}
    void arrive() noexcept {}
    void leave(bool = false) noexcept {}
    void entered() noexcept {}
    void visited() noexcept {}
};

#endif

}  // namespace coroscope::detail
