// SPDX-License-Identifier: Apache-2.0
#include <coroscope/detail/completion.hpp>

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "../writer/recorder.hpp"
#include "completion.hpp"
#include "frames.hpp"

namespace coroscope {
namespace {

// Thread-specific data is destroyed in rounds, after the thread-local objects. Futures of promises
// that were set by set_value_at_thread_exit() and its like become ready in the first round. We
// close their completions in the second round; the lowest bit of the data is set in that round. The
// other bits are the address of the newest completion that must be closed.
constinit pthread_key_t exit_key = 0;
constinit std::atomic<bool> has_exit_key{false};
constexpr std::uintptr_t second_round = 1;
__thread bool exiting __attribute__((tls_model("initial-exec"))) = false;

std::uintptr_t exit_data() noexcept {
    return reinterpret_cast<std::uintptr_t>(pthread_getspecific(exit_key));
}
bool set_exit_data(std::uintptr_t data) noexcept {
    return pthread_setspecific(exit_key, reinterpret_cast<void*>(data)) == 0;
}
detail::completion* newest_of(std::uintptr_t data) noexcept {
    return reinterpret_cast<detail::completion*>(data & ~second_round);
}

void on_thread_exit(void* data) noexcept {
    auto left = reinterpret_cast<std::uintptr_t>(data);
    if ((left & second_round) == 0 && set_exit_data(left | second_round)) return;
    exiting = true;
    detail::completion* newest = newest_of(left);
    while (newest != nullptr) {
        const detail::completion_ptr completed(newest);
        newest = completed->next_at_exit;
        completed->after.close();
        if (newest != nullptr) continue;
        newest = newest_of(exit_data());  // completions that came in between
        set_exit_data(0);
    }
}

bool make_exit_key() noexcept {
    static const bool made = pthread_key_create(&exit_key, on_thread_exit) == 0;
    if (made) has_exit_key.store(true, std::memory_order_release);
    return made;
}

}  // namespace

detail::begun_resource_wait detail::begin_result_wait(completion& of) noexcept {
    return is_recording() ? detail::begin_resource_wait(of.result) : begun_resource_wait{};
}

bool runtime::resumes_at_exit() noexcept {
    return has_exit_key.load(std::memory_order_acquire) &&
           exit_data() != 0;  // pairs with its making
}

bool runtime::resumed_at_exit() noexcept { return exiting; }

namespace detail {

void close_at_thread_exit(completion_ptr completed) noexcept {
    // If there is no key (memory is short), the waiters are resumed when the last holder releases
    // the completion.
    if (!make_exit_key()) return;
    const std::uintptr_t before = exit_data();
    const auto added = reinterpret_cast<std::uintptr_t>(completed.get());
    if (!set_exit_data(added | (before & second_round))) return;
    completed->next_at_exit = newest_of(before);
    completed.detach();
}

void waiting_coroutine::call(callback& self) noexcept {
    auto& mine = static_cast<waiting_coroutine&>(self);
    void* waiter = __atomic_exchange_n(&mine.waiter_, nullptr, __ATOMIC_RELAXED);
    mine.drop();
    if (waiter != nullptr) hand_over_to(waiter);
}

// Announces the hand-over even if no session records here, because the coroutine's context may have
// a session of its own.
void hand_over_to(void* waiter) {
    expect_call(waiter, runtime::now());
    std::coroutine_handle<>::from_address(waiter).resume();
}

}  // namespace detail
}  // namespace coroscope
