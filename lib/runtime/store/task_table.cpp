// SPDX-License-Identifier: Apache-2.0
#include "task_table.hpp"

#include <algorithm>
#include <cstddef>
#include <new>

namespace coroscope::runtime::inline store {

using trace::task_slot;

namespace {

constexpr std::uint32_t share_of_trace = 16;  // a sixteenth of the chunks, at least one
constexpr std::uint64_t largest_table_bytes = std::uint64_t{8}
                                              << 20;  // a quarter of a million tasks

// The stores are atomic, because a snapshot may read the slot at the same time. It reads `task`
// first.
void store_fields(task_slot& to, const task_slot& from) noexcept {
    __atomic_store_n(&to.spawn_ticks, from.spawn_ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&to.parent, from.parent, __ATOMIC_RELAXED);
    __atomic_store_n(&to.site, from.site, __ATOMIC_RELAXED);
    __atomic_store_n(&to.flags, from.flags, __ATOMIC_RELAXED);
}

}  // namespace

task_table::~task_table() { delete[] claimed_; }

std::uint32_t task_table::wanted_chunks(std::uint32_t capacity,
                                        std::uint32_t chunk_bytes) noexcept {
    const std::uint64_t most = std::max<std::uint64_t>(1, largest_table_bytes / chunk_bytes);
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(capacity / share_of_trace, 1, most));
}

void task_table::create(std::uint32_t chunks, std::uint64_t ticks) noexcept {
    slots_per_chunk_ = static_cast<std::uint32_t>(
        (pool_.chunk_bytes() - trace::chunk_header_bytes) / sizeof(task_slot));
    claimed_ = new (std::nothrow) std::atomic<bool>[std::size_t{chunks} * slots_per_chunk_]();
    if (claimed_ == nullptr) return;
    for (std::uint32_t taken = 0; taken < chunks; ++taken) {
        const std::uint32_t index = pool_.take();
        if (index == chunk_pool::none) return;
        if (taken == 0) first_chunk_ = index;
        chunk_pool::opening what;
        what.kind = trace::chunk_kind::tasks;
        what.ticks = ticks;
        pool_.open(index, what);
        if (index != first_chunk_ + taken) return;  // no neighbour: it stays empty
        slots_ += slots_per_chunk_;
    }
}

bool task_table::put(const task_slot& task) noexcept {
    std::uint32_t at = slots_ == 0 ? 0 : home(task.task);
    for (std::uint32_t probe = 0; probe < std::min(probes, slots_);
         ++probe, at = (at + 1) % slots_) {
        if (claimed_[at].load(std::memory_order_relaxed)) continue;
        // Acquire: pairs with the release in take(), whose store to the slot comes before ours.
        if (claimed_[at].exchange(true, std::memory_order_acquire)) continue;
        task_slot& mine = slot(at);
        store_fields(mine, task);
        publish_word(&mine.task, task.task);  // pairs with the table's reader
        return true;
    }
    if (slots_ != 0) add_to_counter(&pool_.header().tasks_without_slot, 1);
    return false;
}

task_slot task_table::take(std::uint64_t task) noexcept {
    std::uint32_t at = slots_ == 0 ? 0 : home(task);
    for (std::uint32_t probe = 0; probe < std::min(probes, slots_);
         ++probe, at = (at + 1) % slots_) {
        if (load_word(&slot(at).task) != task) continue;
        const task_slot taken = slot(at);
        publish_word(&slot(at).task, 0);
        claimed_[at].store(false, std::memory_order_release);  // pairs with the exchange in put()
        return taken;
    }
    return {};
}

std::uint32_t task_table::home(std::uint64_t task) const noexcept {
    // Fibonacci hashing: ids of one thread's block are neighbours, their homes are spread.
    const std::uint64_t spread = (task * 0x9e37'79b9'7f4a'7c15) >> 32;
    return static_cast<std::uint32_t>((spread * slots_) >> 32);
}

task_slot& task_table::slot(std::uint32_t index) const noexcept {
    auto* chunk =
        reinterpret_cast<std::byte*>(pool_.chunk(first_chunk_ + index / slots_per_chunk_));
    auto* slots = reinterpret_cast<task_slot*>(chunk + trace::chunk_header_bytes);
    return slots[index % slots_per_chunk_];
}

}  // namespace coroscope::runtime::inline store
