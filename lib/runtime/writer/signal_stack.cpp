// SPDX-License-Identifier: Apache-2.0
#include "signal_stack.hpp"

#include <csignal>

#include <sys/mman.h>

#include "../base/unlocked_memory.hpp"

namespace coroscope::runtime::inline writer {
namespace {

constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

}  // namespace

void give_signal_stack(thread_record& thread) noexcept {
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
    void* memory =
        map_unlocked(signal_stack_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK);
    if (memory == MAP_FAILED) return;
    stack_t ours{};
    ours.ss_sp = memory;
    ours.ss_size = signal_stack_bytes;
    if (::sigaltstack(&ours, nullptr) == 0)
        thread.signal_stack = memory;
    else
        ::munmap(memory, signal_stack_bytes);
}

void take_signal_stack(thread_record& thread) noexcept {
    if (thread.signal_stack == nullptr) return;
    stack_t now{};
    if (::sigaltstack(nullptr, &now) == 0 && now.ss_sp == thread.signal_stack) {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
    }
    ::munmap(thread.signal_stack, signal_stack_bytes);
    thread.signal_stack = nullptr;
}

}  // namespace coroscope::runtime::inline writer
