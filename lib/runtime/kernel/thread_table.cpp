// SPDX-License-Identifier: Apache-2.0
#include "thread_table.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "allocations.hpp"

namespace coroscope::runtime::inline kernel {

static_assert(std::is_trivially_copyable_v<watched_thread>);

namespace {

constexpr std::uint32_t first_capacity = 128;

}  // namespace

thread_table::~thread_table() {
    const std::lock_guard lock(allocations);
    std::free(entries_);
    std::free(slots_);
}

// The slot of the id, or the free slot at which it would be entered.
std::uint32_t thread_table::slot_of(std::uint32_t id) const noexcept {
    const std::uint32_t mask = 2 * capacity_ - 1;
    std::uint32_t slot = id * 0x9e37'79b9U >> 7U & mask;
    while (slots_[slot] != 0 && entries_[slots_[slot] - 1].id != id) slot = (slot + 1) & mask;
    return slot;
}

watched_thread* thread_table::find(std::uint32_t id) noexcept {
    if (capacity_ == 0) return nullptr;
    const std::uint32_t slot = slot_of(id);
    return slots_[slot] == 0 ? nullptr : &entries_[slots_[slot] - 1];
}

bool thread_table::grow() noexcept {
    const std::uint32_t capacity = capacity_ == 0 ? first_capacity : 2 * capacity_;
    if (capacity > most_entries) return false;
    const std::lock_guard lock(allocations);
    auto* const slots =
        static_cast<std::uint32_t*>(std::calloc(std::size_t{capacity} * 2, sizeof *slots_));
    auto* const entries =
        static_cast<watched_thread*>(std::malloc(std::size_t{capacity} * sizeof *entries_));
    if (slots == nullptr || entries == nullptr) {
        std::free(slots);
        std::free(entries);
        return false;
    }
    if (used_ != 0) std::memcpy(static_cast<void*>(entries), entries_, used_ * sizeof *entries_);
    std::free(entries_);
    std::free(slots_);
    entries_ = entries;
    slots_ = slots;
    capacity_ = capacity;
    for (std::uint32_t number = 0; number < used_; ++number)
        if (entries_[number].id != 0) index(number);
    return true;
}

void thread_table::index(std::uint32_t number) noexcept {
    slots_[slot_of(entries_[number].id)] = number + 1;
}

watched_thread* thread_table::find_or_add(std::uint32_t id) noexcept {
    if (watched_thread* found = find(id); found != nullptr) return found;
    std::uint32_t number = free_;
    if (number != none)
        free_ = entries_[number].behind;
    else if (used_ < capacity_ || grow())
        number = used_++;
    else
        return nullptr;
    entries_[number] = {};
    entries_[number].id = id;
    index(number);
    return &entries_[number];
}

// The entries behind the emptied slot may have been displaced by it: they are entered anew.
void thread_table::remove(watched_thread& thread) noexcept {
    unlist(thread);
    const std::uint32_t mask = 2 * capacity_ - 1;
    std::uint32_t slot = slot_of(thread.id);
    slots_[slot] = 0;
    thread.id = 0;
    thread.behind = free_;
    free_ = number_of(thread);
    for (slot = (slot + 1) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
        const std::uint32_t number = slots_[slot] - 1;
        slots_[slot] = 0;
        index(number);
    }
}

watched_thread* thread_table::first_waiting() noexcept {
    return first_ == none ? nullptr : &entries_[first_];
}

watched_thread* thread_table::next_waiting(const watched_thread& thread) noexcept {
    return thread.behind == none ? nullptr : &entries_[thread.behind];
}

void thread_table::list(watched_thread& thread) noexcept {
    if (thread.is_listed) return;
    const std::uint32_t number = number_of(thread);
    thread.is_listed = true;
    thread.before = last_;
    thread.behind = none;
    (last_ == none ? first_ : entries_[last_].behind) = number;
    last_ = number;
}

void thread_table::unlist(watched_thread& thread) noexcept {
    if (!thread.is_listed) return;
    thread.is_listed = false;
    (thread.before == none ? first_ : entries_[thread.before].behind) = thread.behind;
    (thread.behind == none ? last_ : entries_[thread.behind].before) = thread.before;
}

}  // namespace coroscope::runtime::inline kernel
