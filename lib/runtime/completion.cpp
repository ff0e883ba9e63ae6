// SPDX-License-Identifier: Apache-2.0
#include <coroscope/detail/completion.hpp>

#include <pthread.h>

#include <coroscope/detail/task_state.hpp>

#include "recorder.hpp"
#include "thread_exit.hpp"

namespace coroscope {
namespace {

// Thread-specific data is destroyed in rounds, after the thread-local objects. In the first the standard
// library makes ready what was to be ready at the thread's exit; we come back in the second.
constinit pthread_key_t exit_key = 0;
constinit __thread detail::completion* newest_at_exit = nullptr;
constinit __thread bool second_round = false;

void on_thread_exit(void* data) noexcept {
    if (!second_round) {
        second_round = true;
        pthread_setspecific(exit_key, data);
        return;
    }
    while (newest_at_exit != nullptr) {
        const detail::completion_ptr completed(newest_at_exit);
        newest_at_exit = completed->next_at_exit;
        completed->after.close();
    }
}

bool exit_key_made() noexcept {
    static const bool made = pthread_key_create(&exit_key, on_thread_exit) == 0;
    return made;
}

}  // namespace

bool runtime::resumes_at_exit() noexcept { return newest_at_exit != nullptr; }

namespace detail {

void close_at_thread_exit(completion_ptr completed) noexcept {
    // Without a key, which is without memory, who awaits it is told when the last holder goes.
    if (!exit_key_made() || pthread_setspecific(exit_key, &newest_at_exit) != 0) return;
    completed->next_at_exit = newest_at_exit;
    newest_at_exit = completed.detach();
}

void waiting_coroutine::call(callback& self) noexcept {
    auto& mine = static_cast<waiting_coroutine&>(self);
    void* waiter = __atomic_exchange_n(&mine.waiter_, nullptr, __ATOMIC_RELAXED);
    mine.drop();
    if (waiter != nullptr) hand_over_to(waiter);
}

// Also where nothing records: the coroutine may bring its own session along.
void hand_over_to(void* waiter) {
    expect_handover(waiter, runtime::now());
    std::coroutine_handle<>::from_address(waiter).resume();
}

}  // namespace detail
}  // namespace coroscope
