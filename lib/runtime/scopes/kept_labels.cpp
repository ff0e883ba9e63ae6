// SPDX-License-Identifier: Apache-2.0
#include "kept_labels.hpp"

#include <atomic>
#include <cstring>
#include <mutex>

#include "../base/lasting_memory.hpp"
#include "../writer/recorder.hpp"
#include "../writer/sites.hpp"

namespace coroscope::runtime::inline scopes {
namespace {

constexpr std::uint64_t free_slot = 0;
constexpr std::uint64_t being_filled = ~std::uint64_t{0};
constexpr std::size_t probes = 16;  // most slots that a search visits

struct kept_label {
    std::uint64_t chunk = 0;  // number of the chunk that has the label's record
    std::uint32_t size = 0;
    char text[kept_label_bytes];
};

struct label_slot {
    std::atomic<std::uint64_t> key{free_slot};
    std::atomic<std::uint32_t> session{0};
    kept_label label{};
};
// Allocated for the first session that overwrites chunks; other sessions do not need this megabyte.
// It is not part of the library's data, because a library of two megabytes or more slows programs
// that record nothing (docs/decisions/0023-making-memory.md).
constinit std::atomic<label_slot*> slots{nullptr};

// Never returns free_slot or being_filled: thread ids begin at 1, and have only 20 bits.
std::uint64_t key_of(std::uint64_t mark, std::uint32_t serial) noexcept {
    return std::uint64_t{trace::mark_thread(mark)} << 32 | serial;
}

label_slot& slot_near(label_slot* table, std::uint64_t key, std::size_t probe) noexcept {
    const std::uint64_t spread = key * 0x9e37'79b9'7f4a'7c15U >> 40;
    return table[(spread + probe) % label_slots];
}

// Only the thread whose claim succeeded may touch the slot's content.
bool claim(label_slot& slot, std::uint64_t expected) noexcept {
    return slot.key.load(std::memory_order_relaxed) == expected &&
           slot.key.compare_exchange_strong(expected, being_filled, std::memory_order_acquire,
                                            std::memory_order_relaxed);
}

void put_label(std::uint64_t key, std::uint32_t session, const kept_label& label) noexcept {
    label_slot* const table = slots.load(std::memory_order_acquire);  // pairs with prepare_labels()
    if (table == nullptr) return;
    for (std::size_t probe = 0; probe < probes; ++probe) {
        label_slot& slot = slot_near(table, key, probe);
        if (!claim(slot, free_slot)) continue;
        slot.session.store(session, std::memory_order_relaxed);
        slot.label = label;
        slot.key.store(key, std::memory_order_release);  // pairs with claim()
        return;
    }
}

bool take_label(std::uint64_t key, std::uint32_t session, kept_label& label) noexcept {
    label_slot* const table = slots.load(std::memory_order_acquire);  // pairs with prepare_labels()
    if (table == nullptr) return false;
    for (std::size_t probe = 0; probe < probes; ++probe) {
        label_slot& slot = slot_near(table, key, probe);
        if (!claim(slot, key)) continue;
        const bool found = slot.session.load(std::memory_order_relaxed) == session;
        if (found) label = slot.label;
        slot.key.store(free_slot, std::memory_order_release);
        return found;
    }
    return false;
}

bool overwrites() noexcept { return (detail::load_gate() & detail::gate_task_table) != 0; }

// Precondition: the thread has a chunk.
std::uint64_t number_of_chunk() noexcept { return this_thread.record->current->chunk->number; }

}  // namespace

void keep_label(const detail::range_start& range, const char* label, std::size_t size) noexcept {
    if (!overwrites() || size > kept_label_bytes) return;
    kept_label kept;
    kept.chunk = number_of_chunk();
    kept.size = static_cast<std::uint32_t>(size);
    if (kept.size != 0) std::memcpy(kept.text, label, kept.size);
    put_label(key_of(range.start.mark, range.label), range.session, kept);
}

void repeat_label(const detail::range_start& range, const detail::scope_start& begun) noexcept {
    kept_label kept;
    if (!overwrites() || !take_label(key_of(begun.mark, range.label),
                                     detail::session_generation(range.session), kept))
        return;
    const std::size_t together =
        trace::record_unit_bytes + trace::padded_payload(kept.size) + long_record_bytes;
    if (refill_bytes(this_thread, together) != nullptr && number_of_chunk() != kept.chunk)
        write_text(begun.ticks, record_kind::label, range.label, kept.text, kept.size);
}

void prepare_labels() noexcept {
    label_slot* const table = slots.load(std::memory_order_relaxed);
    if (table == nullptr) {
        const std::lock_guard lock(sites_mutex());
        // A slot of zeros is free.
        void* memory = take_lasting(label_slots * sizeof(label_slot));
        slots.store(static_cast<label_slot*>(memory), std::memory_order_release);
        return;
    }
    for (std::size_t at = 0; at < label_slots; ++at) {
        label_slot& slot = table[at];
        const std::uint64_t key =
            slot.key.load(std::memory_order_acquire);  // pairs with keep_label()
        if (key == free_slot || key == being_filled) continue;
        if (find_session(slot.session.load(std::memory_order_relaxed)) != nullptr) continue;
        if (claim(slot, key)) slot.key.store(free_slot, std::memory_order_release);
    }
}

}  // namespace coroscope::runtime::inline scopes
