// SPDX-License-Identifier: Apache-2.0
#include "open_entries.hpp"

#include <mutex>
#include <new>

#include "../base/kept_errno.hpp"
#include "../base/lasting_memory.hpp"
#include "../writer/registry.hpp"
#include "../writer/sites.hpp"

namespace coroscope::runtime::inline scopes {
namespace {

constinit std::atomic<open_pool*> pools{nullptr};  // grows under the sites' lock
constinit open_pool* idle = nullptr;               // under the registry's lock
constinit std::uint32_t next_number = 0;           // under the sites' lock

constexpr std::uint32_t most_entries =
    1U << 20;  // 64 MiB: scopes that never end must not take all memory

open_pool* take_idle() noexcept {
    const std::lock_guard lock(registry_mutex());
    open_pool* found = idle;
    if (found != nullptr) idle = found->next_idle;
    return found;
}

}  // namespace

open_pool* find_open_pool() noexcept {
    if (open_pool* found = take_idle()) return found;
    const kept_errno programs;
    const std::lock_guard lock(sites_mutex());
    void* const memory = take_lasting(sizeof(open_pool));
    if (memory == nullptr) return nullptr;
    auto* made = ::new (memory) open_pool;
    made->next = pools.load(std::memory_order_relaxed);
    pools.store(made, std::memory_order_release);  // pairs with first_open_pool()
    return made;
}

open_entry* grow(open_pool& pool) noexcept {
    const kept_errno programs;
    const std::lock_guard lock(sites_mutex());
    if (next_number >= most_entries) return nullptr;
    void* const memory = take_lasting(sizeof(open_block));
    if (memory == nullptr) return nullptr;
    auto* block = ::new (memory) open_block{};
    for (open_entry& each : block->entries) {
        each.number = next_number++;
        each.pool = &pool;
    }
    block->next = pool.blocks.load(std::memory_order_relaxed);
    pool.blocks.store(block, std::memory_order_release);  // pairs with crash reports
    // Signals are blocked under the lock. But the calling scope may itself be in a signal handler
    // that interrupted a change of the pool, so put() is used.
    for (std::uint32_t at = open_block::size - 1; at != 0; --at) pool.put(block->entries[at]);
    return &block->entries[0];
}

void make_idle(open_pool& pool) noexcept {
    pool.changing = nullptr;
    pool.next_idle = idle;
    idle = &pool;
}

open_pool* first_open_pool() noexcept { return pools.load(std::memory_order_acquire); }

}  // namespace coroscope::runtime::inline scopes
