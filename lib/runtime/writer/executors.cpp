// SPDX-License-Identifier: Apache-2.0
#include "executors.hpp"

#include <cstring>
#include <mutex>
#include <new>

#include <coroscope/trace/executor_format.hpp>
#include <coroscope/trace/fact_format.hpp>

#include "../base/fault_record.hpp"
#include "../base/kept_errno.hpp"
#include "../base/lasting_memory.hpp"
#include "session_table.hpp"
#include "sites.hpp"

namespace coroscope::runtime::inline writer {

constinit executor_slot executor_table[executor_slots];
constinit std::atomic<const known_executor*> executor_directory[most_executors];

namespace {

using detail::executor_kind;
using detail::executor_place;
using trace::executor_body;

constexpr bool is_same(executor_kind one, trace::executor_kind other) noexcept {
    return static_cast<std::uint8_t>(one) == static_cast<std::uint8_t>(other);
}
static_assert(is_same(executor_kind::other, trace::executor_kind::other) &&
              is_same(executor_kind::context, trace::executor_kind::context) &&
              is_same(executor_kind::io_context, trace::executor_kind::io_context) &&
              is_same(executor_kind::thread_pool, trace::executor_kind::thread_pool) &&
              is_same(executor_kind::system_executor, trace::executor_kind::system_executor) &&
              is_same(executor_kind::strand, trace::executor_kind::strand) &&
              is_same(executor_kind::fibers, trace::executor_kind::fibers) &&
              is_same(executor_kind::arena, trace::executor_kind::arena));

constexpr std::size_t longest_name = 200;

// The definition in traces, and the links between a context and its strands.
struct executor_entry : known_executor {
    executor_body body;
    executor_entry* next_strand;   // of the same context
    executor_entry* first_strand;  // of a context
    bool ended;
    char name[1];  // name_bytes characters
};

constexpr std::uintptr_t address_bits = (std::uintptr_t{1} << 48) - 1;  // of user space
// The address of a slot whose executor has ended.
constexpr std::uintptr_t given_up = address_bits;
constexpr std::size_t most_addresses = executor_slots / 8 * 7;  // keeps lookups short
// Searches go on beyond slots that were given up, so these count as used.
constexpr std::size_t most_used_slots = executor_slots / 16 * 15;

// Written under the lock, read without it.
constinit std::atomic<std::uint32_t> last_number{0};
constinit std::size_t used_slots = 0;  // slots that are not empty, with those that were given up
constinit std::size_t addresses = 0;   // in the table
constinit std::atomic<bool> is_full{false};
constinit bool further_defined = false;
constinit fault_record without_number{
    "coroscope: too many executors; further ones have one number in traces"};

struct executor_addition {
    const kept_errno programs;
    const std::lock_guard<quiet_mutex> lock{sites_mutex()};
};

std::size_t index_of(std::uintptr_t address, std::size_t probe) noexcept {
    return (address / typed_step + probe) % executor_slots;
}

executor_slot* find_slot(std::uintptr_t address) noexcept {
    for (std::size_t probe = 0; probe < executor_slots; ++probe) {
        executor_slot& slot = executor_table[index_of(address, probe)];
        const std::uintptr_t there = slot.address.load(std::memory_order_acquire);
        if (there == 0) return nullptr;
        if (there == address) return &slot;
    }
    return nullptr;
}

executor_bits find(std::uintptr_t address) noexcept {
    const executor_slot* const slot = find_slot(address);
    return slot == nullptr ? 0 : slot->number.load(std::memory_order_relaxed);
}

// Returns null for trace::further_executors, which has no entry.
executor_entry* entry_of(executor_bits of) noexcept {
    const std::uint32_t number = executor_number(of);
    if (number >= most_executors) return nullptr;
    // The entries are constant only for readers.
    return static_cast<executor_entry*>(
        const_cast<known_executor*>(executor_directory[number].load(std::memory_order_acquire)));
}

void define(chunk_store& store, const executor_body& body, const char* name) noexcept {
    unsigned char payload[sizeof body + longest_name];
    std::memcpy(payload, &body, sizeof body);
    std::memcpy(payload + sizeof body, name, body.name_bytes);
    const std::size_t bytes = sizeof body + body.name_bytes;
    store.append_metadata(0,
                          trace::make_tag(trace::record_kind::fact,
                                          trace::fact_id(trace::fact_kind::executor), bytes),
                          payload, bytes);
}

void define_everywhere(const executor_entry& defined) noexcept {
    for_each_store([&defined](chunk_store& store) { define(store, defined.body, defined.name); });
}

constexpr executor_body further_body{
    trace::further_executors, 0, trace::executor_kind::further, 0, 0, 0};

// The caller of each function from here on must hold the lock.

executor_bits further() noexcept {
    is_full.store(true, std::memory_order_relaxed);
    without_number.note();
    if (!further_defined)
        for_each_store([](chunk_store& store) { define(store, further_body, ""); });
    further_defined = true;
    return executor_bits{trace::further_executors} << executor_number_shift;
}

// Returns the slot of an address; if it has none, the first slot of its search that is empty or
// given up. Returns null if the table has no room for it.
executor_slot* slot_for(std::uintptr_t address) noexcept {
    if (executor_slot* const known = find_slot(address)) return known;
    if (addresses == most_addresses) return nullptr;
    for (std::size_t probe = 0; probe < executor_slots; ++probe) {
        executor_slot& slot = executor_table[index_of(address, probe)];
        const std::uintptr_t there = slot.address.load(std::memory_order_relaxed);
        if (there == given_up) return &slot;
        if (there == 0) return used_slots < most_used_slots ? &slot : nullptr;
    }
    return nullptr;
}

void keep(executor_slot& slot, std::uintptr_t address, executor_bits number) noexcept {
    const std::uintptr_t before = slot.address.load(std::memory_order_relaxed);
    used_slots += before == 0 ? 1 : 0;
    addresses += before == 0 || before == given_up ? 1 : 0;
    slot.number.store(number, std::memory_order_relaxed);
    slot.address.store(address, std::memory_order_release);  // pairs with the lookups
}

bool has_number() noexcept {
    static_assert(most_executors <= trace::further_executors);
    return last_number.load(std::memory_order_relaxed) + 1 < most_executors;
}

// Empties the slots that were given up directly before an empty slot, because no search needs to
// pass them.
void empty_slots_before(std::size_t index) noexcept {
    if (executor_table[index % executor_slots].address.load(std::memory_order_relaxed) != 0) return;
    while (true) {
        index = (index + executor_slots - 1) % executor_slots;
        std::atomic<std::uintptr_t>& there = executor_table[index].address;
        if (there.load(std::memory_order_relaxed) != given_up) return;
        there.store(0, std::memory_order_release);
        --used_slots;
    }
}

void give_up(std::uintptr_t address) noexcept {
    executor_slot* const slot = find_slot(address);
    if (slot == nullptr) return;
    slot->address.store(given_up, std::memory_order_release);
    --addresses;
    empty_slots_before(static_cast<std::size_t>(slot - executor_table) + 1);
    if (has_number()) is_full.store(false, std::memory_order_relaxed);
}

// Makes an executor and defines it in all live traces, but does not store its address. Returns null
// if there is no room.
executor_entry* make(std::uintptr_t address, const void* told, executor_kind kind, const char* name,
                     std::uint32_t inner) noexcept {
    if (!has_number()) return nullptr;
    const std::size_t name_bytes = name == nullptr ? 0 : ::strnlen(name, longest_name);
    void* const place = take_lasting(sizeof(executor_entry) + name_bytes);
    if (place == nullptr) return nullptr;
    auto* made = ::new (place) executor_entry{};
    const std::uint32_t number = last_number.load(std::memory_order_relaxed) + 1;
    made->address = address;
    made->told = told;
    made->body.number = number;
    made->body.inner = inner;
    made->body.kind = static_cast<trace::executor_kind>(kind);
    made->body.name_bytes = static_cast<std::uint16_t>(name_bytes);
    if (name_bytes != 0) std::memcpy(made->name, name, name_bytes);
    executor_directory[number].store(made, std::memory_order_release);
    last_number.store(number, std::memory_order_release);
    define_everywhere(*made);
    return made;
}

executor_bits bits_of(const executor_entry* of) noexcept {
    return of == nullptr ? further() : executor_bits{of->body.number} << executor_number_shift;
}

executor_kind kind_of_type(const char* type) noexcept {
    if (std::strcmp(type, "io_context") == 0) return executor_kind::io_context;
    if (std::strcmp(type, "thread_pool") == 0) return executor_kind::thread_pool;
    if (std::strcmp(type, "system_executor") == 0) return executor_kind::system_executor;
    return executor_kind::context;
}

void end(executor_bits ended) noexcept {
    if (executor_entry* const of = ended == 0 ? nullptr : entry_of(ended)) of->ended = true;
}

// Makes an executor at `address`. An executor that was there has ended. Returns null if there is no
// room.
executor_entry* replace(std::uintptr_t address, const void* told, executor_kind kind,
                        const char* name, std::uint32_t inner) noexcept {
    end(find(address));
    executor_slot* const slot = slot_for(address);
    if (slot == nullptr) return nullptr;
    executor_entry* const made = make(address, told, kind, name, inner);
    if (made != nullptr) keep(*slot, address, bits_of(made));
    return made;
}

executor_bits context_of(std::uintptr_t address, executor_kind kind) noexcept {
    const bool typed = kind != executor_kind::context;
    const std::uintptr_t key = typed ? address + typed_step : address;
    if (const executor_bits found = find(key)) return found;
    const executor_bits other = find(typed ? address : address + typed_step);
    if (other == 0) return bits_of(replace(key, nullptr, kind, nullptr, 0));
    if (executor_slot* const slot = slot_for(key)) keep(*slot, key, other);
    executor_entry& known = *entry_of(other);
    if (!typed) return other;
    known.body.kind = static_cast<trace::executor_kind>(kind);
    define_everywhere(known);
    return other;
}

// Returns the strand at `address` if its context is still the same, else makes a new one.
executor_bits strand_of(std::uintptr_t address, const void* context) noexcept {
    if (const executor_bits found = find(address); found != 0 && is_told(found, context))
        return found;
    const executor_bits typed = find(reinterpret_cast<std::uintptr_t>(context) + typed_step);
    const executor_bits inner =
        typed != 0 ? typed
                   : context_of(reinterpret_cast<std::uintptr_t>(context), executor_kind::context);
    executor_entry* const made =
        replace(address, context, executor_kind::strand, nullptr, executor_number(inner));
    executor_entry* const below = entry_of(inner);
    if (made != nullptr && below != nullptr) {
        made->next_strand = below->first_strand;
        below->first_strand = made;
    }
    return bits_of(made);
}

void forget_strands(const executor_entry& context) noexcept {
    for (executor_entry* each = context.first_strand; each != nullptr; each = each->next_strand) {
        if (each->ended) continue;
        each->ended = true;
        give_up(each->address);
    }
}

void forget(std::uintptr_t address) noexcept {
    const executor_bits found = find(address);
    if (found == 0) return;
    give_up(address);
    executor_entry* const ended = entry_of(found);
    if (ended == nullptr) return;
    ended->ended = true;
    forget_strands(*ended);
}

bool is_in_user_space(std::uintptr_t address) noexcept {
    return address != 0 && (address & ~address_bits) == 0;
}

constexpr executor_bits without_lookup() noexcept {
    return executor_bits{trace::further_executors} << executor_number_shift;
}

// Calls `find_again`, which must search the table without the lock. If it finds nothing, calls
// `add` under the lock, which must search again and make the executor if it is not there.
template <class Find, class Add>
executor_bits look_up(std::uintptr_t address, const Find& find_again, const Add& add) noexcept {
    if (!is_in_user_space(address)) return 0;
    if (const executor_bits found = find_again()) return found;
    if (is_full.load(std::memory_order_relaxed)) return without_lookup();
    const executor_addition under_way;
    return add();
}

}  // namespace

executor_bits look_up_context(std::uintptr_t key, const char* type) noexcept {
    const executor_kind kind = kind_of_type(type);
    return look_up(
        key, [key] { return find(key); },
        [key, kind] {
            return context_of(kind == executor_kind::context ? key : key - typed_step, kind);
        });
}

executor_bits look_up_strand(const void* strand, const void* context) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(strand);
    return look_up(
        address,
        [address, context] {
            const executor_bits found = find(address);
            return found != 0 && is_told(found, context) ? found : 0;
        },
        [address, context] { return strand_of(address, context); });
}

executor_bits look_up_place(const executor_place& of) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(of.address);
    const auto find_again = [&of, address] {
        const executor_bits found = find(address);
        return found != 0 && is_told(found, of.name) ? found : 0;
    };
    return look_up(address, find_again, [&of, address, &find_again] {
        if (const executor_bits found = find_again()) return found;
        return bits_of(replace(address, of.name, of.kind, of.name, 0));
    });
}

void forget_context(const void* context) noexcept {
    if (last_number.load(std::memory_order_acquire) == 0) return;
    const executor_addition under_way;
    const auto address = reinterpret_cast<std::uintptr_t>(context);
    forget(address);
    forget(address + typed_step);
}

void define_all_executors(chunk_store& store) noexcept {
    const std::lock_guard lock(sites_mutex());
    const std::uint32_t last = last_number.load(std::memory_order_relaxed);
    for (std::uint32_t number = 1; number <= last; ++number) {
        const executor_entry& each = *entry_of(executor_bits{number} << executor_number_shift);
        if (!each.ended) define(store, each.body, each.name);
    }
    if (further_defined) define(store, further_body, "");
}

}  // namespace coroscope::runtime::inline writer

namespace coroscope::detail {

void forget_executor(const void* address) noexcept {
    using namespace runtime;
    if (last_number.load(std::memory_order_acquire) == 0) return;
    const executor_addition under_way;
    forget(reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace coroscope::detail
