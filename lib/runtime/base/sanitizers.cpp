// SPDX-License-Identifier: Apache-2.0
#include "sanitizers.hpp"

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
extern "C" [[gnu::weak]] void __tsan_init();
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
extern "C" [[gnu::weak]] void __lsan_disable();

namespace coroscope::runtime::inline base {

bool may_start_threads_after_fork() noexcept { return __tsan_init == nullptr; }

void ignore_leaks_of_this_thread() noexcept {
    if (__lsan_disable != nullptr) __lsan_disable();
}

}  // namespace coroscope::runtime::inline base
