// SPDX-License-Identifier: Apache-2.0
#include "retired_stores.hpp"

#include <new>
#include <span>
#include <utility>

#include "../writer/registry.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

// Stores of ended sessions whose memory a thread may still use.
struct retired_store : own_memory {
    retired_store* next;
    chunk_store* store;
    std::uint32_t generation;
};
constinit retired_store* retired = nullptr;

bool held_by_a_thread(std::uint32_t generation) noexcept {
    for (const detail::thread_record* record = first_thread(); record != nullptr;
         record = record->next) {
        if (record->busy.load(std::memory_order_acquire) == generation) return true;
        for (const binding& bound : record->bindings) {
            if (bound.generation.load(std::memory_order_acquire) == generation) return true;
        }
    }
    return false;
}

// Removes the stores that no thread holds any more from the list, and returns them.
retired_store* take_reapable() noexcept {
    const std::lock_guard lock(registry_mutex());
    retired_store* taken = nullptr;
    for (retired_store** at = &retired; *at != nullptr;) {
        retired_store* entry = *at;
        if (held_by_a_thread(entry->generation)) {
            at = &entry->next;
            continue;
        }
        *at = std::exchange(entry->next, taken);
        taken = entry;
    }
    return taken;
}

// If there is no memory for the entry, the store keeps its address space until the process ends,
// but no memory.
void retire(chunk_store* store, std::uint32_t generation) noexcept {
    auto* entry = new (std::nothrow) retired_store{{}, retired, store, generation};
    if (entry != nullptr) retired = entry;
}

}  // namespace

// Unmaps the stores that no thread holds, without the lock: the program's free() may have a scope.
// The other stores keep their address space, but no memory.
void reap_retired() noexcept {
    for (retired_store* entry = take_reapable(); entry != nullptr;) {
        retired_store* const next = entry->next;
        entry->store->release_mapping();
        delete entry->store;
        delete entry;
        entry = next;
    }
}

// Releases the slots of ended sessions whose stores are not in use. The caller must hold the
// sessions' lock.
void give_up_slots() noexcept {
    const allocating_lock lock;
    for (session& each : std::span(session_table(), session_slots)) {
        const std::uint32_t generation = each.generation.load(std::memory_order_relaxed);
        if (generation == 0 || each.live.load(std::memory_order_relaxed) ||
            each.ending.load(std::memory_order_relaxed) || is_used(generation))
            continue;
        retire(each.store, generation);
        each.store = nullptr;
        each.generation.store(0, std::memory_order_release);  // pairs with find_session()
    }
}

}  // namespace coroscope::runtime::inline sessions
