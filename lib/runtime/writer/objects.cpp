// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "../base/kept_errno.hpp"
#include "../base/lasting_memory.hpp"
#include "session_table.hpp"
#include "sites.hpp"

namespace coroscope::runtime::inline writer {
namespace {

// A slot of the table of objects. The table uses open addressing; entries are never moved or
// removed.
struct object_entry {
    std::atomic<std::uint64_t> key{0};  // address << kind_bits | kind; 0: free
    std::atomic<std::uint32_t> number{0};
    const char* name = nullptr;
};
constexpr unsigned kind_bits = 8;
constexpr std::size_t object_slots = 8192;
constexpr std::uint32_t most_objects = object_slots / 8 * 7;  // keeps unsuccessful lookups short
constinit object_entry objects[object_slots];
constinit std::atomic<std::uint32_t> last_object{0};  // written under the sites' lock

std::size_t slot_of(std::uint64_t key, std::size_t probe) noexcept {
    return ((key * 0x9e3779b97f4a7c15U >> 40) + probe) % object_slots;
}

// Returns the entry with that key, else the free entry that ends the search; null if there is
// neither.
object_entry* find_entry(std::uint64_t key) noexcept {
    for (std::size_t probe = 0; probe < object_slots; ++probe) {
        object_entry& entry = objects[slot_of(key, probe)];
        // pairs with add()
        const std::uint64_t present = entry.key.load(std::memory_order_acquire);
        if (present == key || present == 0) return &entry;
    }
    return nullptr;
}

void define(chunk_store& store, const object_entry& entry) noexcept {
    const auto kind = static_cast<std::uint32_t>(entry.key & ((1U << kind_bits) - 1));
    const std::size_t length = std::min<std::size_t>(std::strlen(entry.name), 255);
    char text[sizeof(trace::object_body) + 256] = {};
    const trace::object_body body{entry.number, static_cast<std::uint8_t>(length), {}};
    std::memcpy(text, &body, sizeof body);
    std::memcpy(text + sizeof body, entry.name, length);
    const std::size_t bytes = std::max(sizeof body + length, trace::record_unit_bytes);
    const std::uint32_t id = trace::fact_id(trace::fact_kind::object, kind);
    store.append_metadata(0, trace::make_tag(trace::record_kind::fact, id, bytes), text, bytes);
}

// Copies the name, because the library that contains it may be unloaded.
const char* copy_of(const char* name) noexcept {
    const std::size_t bytes = std::strlen(name) + 1;
    void* const place = bytes == 1 ? nullptr : take_lasting(bytes);
    return place == nullptr ? "" : static_cast<const char*>(std::memcpy(place, name, bytes));
}

[[gnu::noinline]] std::uint32_t add(std::uint64_t key, const char* name) noexcept {
    const kept_errno programs;
    const std::lock_guard lock(sites_mutex());
    object_entry* const entry = find_entry(key);
    if (entry == nullptr) return 0;
    if (entry->key.load(std::memory_order_relaxed) == key) return entry->number;
    const std::uint32_t last = last_object.load(std::memory_order_relaxed);
    if (last == most_objects) return 0;
    last_object.store(last + 1, std::memory_order_relaxed);
    entry->number.store(last + 1, std::memory_order_relaxed);
    entry->name = copy_of(name);
    entry->key.store(key, std::memory_order_release);  // pairs with find_entry()
    for_each_store([entry](chunk_store& store) { define(store, *entry); });
    return entry->number;
}

}  // namespace

std::uint32_t object_number(const void* address, trace::object_kind kind,
                            const char* name) noexcept {
    if (address == nullptr) return 0;
    const std::uint64_t key =
        reinterpret_cast<std::uintptr_t>(address) << kind_bits | static_cast<std::uint64_t>(kind);
    const object_entry* const entry = find_entry(key);
    if (entry == nullptr) return 0;
    if (entry->key.load(std::memory_order_acquire) == key) return entry->number;
    return last_object.load(std::memory_order_relaxed) == most_objects ? 0 : add(key, name);
}

void define_all_objects(chunk_store& store) noexcept {
    const std::lock_guard lock(sites_mutex());
    for (const object_entry& entry : objects)
        if (entry.number != 0) define(store, entry);
}

}  // namespace coroscope::runtime::inline writer
