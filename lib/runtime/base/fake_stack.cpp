// SPDX-License-Identifier: Apache-2.0

#include "fake_stack.hpp"

// The sanitizer's functions, weak because there may be no sanitizer. Declared as in
// sanitizer/asan_interface.h, and as compilers call them.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): their names
[[gnu::weak]] extern int __asan_option_detect_stack_use_after_return;
[[gnu::weak]] void* __asan_get_current_fake_stack();
[[gnu::weak]] void* __asan_addr_is_in_fake_stack(void* fake_stack, void* address, void** begin,
                                                 void** end);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace coroscope::runtime::inline base {

bool has_fake_stacks() noexcept {
    return &__asan_option_detect_stack_use_after_return != nullptr &&
           __asan_option_detect_stack_use_after_return != 0;
}

std::uintptr_t place_on_stack(const void* address) noexcept {
    void* place = nullptr;
    if (__asan_get_current_fake_stack != nullptr && __asan_addr_is_in_fake_stack != nullptr) {
        void* fake = __asan_get_current_fake_stack();
        if (fake != nullptr)
            place =
                __asan_addr_is_in_fake_stack(fake, const_cast<void*>(address), nullptr, nullptr);
    }
    return reinterpret_cast<std::uintptr_t>(place != nullptr ? place : address);
}

}  // namespace coroscope::runtime::inline base
