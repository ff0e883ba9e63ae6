// SPDX-License-Identifier: Apache-2.0
#include <coroscope/detail/callback_list.hpp>

#include <atomic>

#include <coroscope/detail/thread_state.hpp>

namespace coroscope::detail {
namespace {

// States of the list, in the low bits of its word; the other bits are the address of the newest
// callback.
constexpr std::uintptr_t state_mask = 3;
constexpr std::uintptr_t closing = 1;
constexpr std::uintptr_t closed_for_good = 3;

callback* newest(std::uintptr_t state) noexcept {
    return reinterpret_cast<callback*>(state & ~state_mask);
}

void run_in_order(callback* last) noexcept {
    callback* first = nullptr;
    while (last != nullptr) {
        callback* before = last->next;
        last->next = first;
        first = last;
        last = before;
    }
    while (first != nullptr) {
        callback* after = first->next;
        first->run(*first);
        first = after;
    }
}

void wait_until_closed(const std::atomic_ref<std::uintptr_t>& word) noexcept {
    for (;;) {
        const std::uintptr_t state =
            word.load(std::memory_order_acquire);  // pairs with the last exchange
        if (state == closed_for_good) return;
        word.wait(state, std::memory_order_acquire);
    }
}

}  // namespace

bool callback_list::add(callback& added) noexcept {
    const std::atomic_ref word(state_);
    std::uintptr_t state =
        word.load(std::memory_order_acquire);  // pairs with close(): whatever it ran is done
    do {
        if (state == closed_for_good) return false;
        added.next = newest(state);
    } while (!word.compare_exchange_weak(
        state, reinterpret_cast<std::uintptr_t>(&added) | (state & state_mask),
        std::memory_order_release, std::memory_order_acquire));
    return true;
}

bool callback_list::close() noexcept {
    if (try_close()) return true;
    const std::atomic_ref closer(closer_);
    if (closer.load(std::memory_order_relaxed) != &this_thread)
        wait_until_closed(std::atomic_ref(state_));
    return false;
}

bool callback_list::try_close() noexcept {
    const std::atomic_ref word(state_);
    const std::atomic_ref closer(closer_);
    std::uintptr_t state = word.load(std::memory_order_acquire);
    do {
        if ((state & closing) != 0) return false;
    } while (!word.compare_exchange_weak(state, closing, std::memory_order_acq_rel,
                                         std::memory_order_acquire));
    closer.store(&this_thread,
                 std::memory_order_relaxed);  // only this thread will find itself here
    for (;;) {
        run_in_order(newest(state));
        state = closing;
        if (word.compare_exchange_strong(state, closed_for_good, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
            break;
        state = word.exchange(closing, std::memory_order_acquire);  // pairs with add()
    }
    word.notify_all();
    return true;
}

bool callback_list::closed() const noexcept {
    return __atomic_load_n(&state_, __ATOMIC_ACQUIRE) == closed_for_good;
}

}  // namespace coroscope::detail
