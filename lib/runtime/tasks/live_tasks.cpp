// SPDX-License-Identifier: Apache-2.0
#include "live_tasks.hpp"

#include <sys/mman.h>

#include <mutex>

#include "../writer/registry.hpp"

namespace coroscope::runtime::inline tasks {

extern "C" {
constinit live_root coroscope_live_root{{'C', 'S', 'L', 'I', 'V', 'E', '\0', '\1'},
                                        sizeof(live_slot),
                                        live_slot_count,
                                        nullptr,
                                        0,
                                        0,
                                        &known_sites};
}

namespace {

using detail::this_thread;

constexpr std::uint64_t being_filled = ~std::uint64_t{0};
constexpr std::uint64_t last_epoch = (std::uint64_t{1} << (64 - live_epoch_shift)) - 2;

// Under the lock of sessions.
constinit std::uint64_t epochs = 0;
constinit bool wished = false;
constinit unsigned needs = 0;

template <class Word>
Word load(const Word& word) noexcept {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
}
template <class Word>
void store(Word& word, Word value) noexcept {
    __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}

// Acquire: pairs with turn_on(), which maps the table first.
std::uint64_t current_epoch() noexcept {
    return __atomic_load_n(&coroscope_live_root.epoch, __ATOMIC_ACQUIRE);
}

live_slot& slot_at(std::uint64_t task, std::uint32_t probe) noexcept {
    return coroscope_live_root.slots[(task + probe) % live_slot_count];
}

std::uint32_t kernel_thread() noexcept {
    const detail::thread_record* record = this_thread.record;
    return record == nullptr ? 0 : record->os_id;
}

bool is_free(std::uint64_t key, std::uint64_t epoch) noexcept {
    return key != being_filled && key >> live_epoch_shift != epoch;
}

// A free slot near the task's home, which is ours from here on. Acquire: pairs with end_live().
live_slot* claim_slot(std::uint64_t task, std::uint64_t epoch) noexcept {
    for (std::uint32_t probe = 0; probe < live_probes; ++probe) {
        live_slot& slot = slot_at(task, probe);
        std::uint64_t key = load(slot.key);
        if (is_free(key, epoch) && __atomic_compare_exchange_n(&slot.key, &key, being_filled, false,
                                                               __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return &slot;
    }
    __atomic_fetch_add(&coroscope_live_root.no_room, 1U, __ATOMIC_RELAXED);
    return nullptr;
}

bool map_table() noexcept {
    if (coroscope_live_root.slots != nullptr) return true;
    void* memory =
        ::mmap(nullptr, std::size_t{live_slot_count} * sizeof(live_slot), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    coroscope_live_root.slots = static_cast<live_slot*>(memory);
    return true;
}

// The gates show the active features, so that quiet threads take the slow path. The caller must
// hold registry_mutex().
void change_gates(std::int32_t set, std::int32_t clear) noexcept {
    change_standing_gate(set, clear);
    change_all_gates(set, clear);
}

bool turn_on() noexcept {
    if (!map_table()) return false;
    epochs = epochs == last_epoch ? 1 : epochs + 1;
    const std::lock_guard lock(registry_mutex());
    __atomic_store_n(&coroscope_live_root.epoch, epochs,
                     __ATOMIC_RELEASE);  // pairs with current_epoch()
    change_gates(detail::gate_live, 0);
    return true;
}

// Entries that stay in the table belong to an epoch that has ended.
void turn_off() noexcept {
    const std::lock_guard lock(registry_mutex());
    change_gates(0, detail::gate_live);
    store(coroscope_live_root.epoch, std::uint64_t{0});
}

}  // namespace

std::int32_t settled_gate() noexcept {
    register_thread(this_thread);
    return detail::load_gate();
}

std::int64_t live_now() noexcept { return static_cast<std::int64_t>(detail::monotonic_ticks()); }

live_slot* add_live(const live_origin& task, async_state state, std::int64_t now_ns) noexcept {
    const std::uint64_t epoch = current_epoch();
    if (epoch == 0) return nullptr;
    live_slot* slot = claim_slot(task.task, epoch);
    if (slot == nullptr) return nullptr;
    store(slot->parent, task.parent);
    store(slot->awaiter, std::uint64_t{0});
    store(slot->spawn_ns, now_ns);
    store(slot->spawn_site, task.spawn_site);
    change_live(*slot, state, 0, now_ns);
    // Pairs with find_live() of any thread that has this id.
    __atomic_store_n(&slot->key, epoch << live_epoch_shift | task.task, __ATOMIC_RELEASE);
    return slot;
}

live_slot* find_live(std::uint64_t task) noexcept {
    const std::uint64_t epoch = current_epoch();
    if (epoch == 0 || task == 0) return nullptr;
    const std::uint64_t key = epoch << live_epoch_shift | task;
    for (std::uint32_t probe = 0; probe < live_probes; ++probe) {
        live_slot& slot = slot_at(task, probe);
        if (__atomic_load_n(&slot.key, __ATOMIC_ACQUIRE) == key)
            return &slot;  // pairs with add_live()
    }
    return nullptr;
}

void change_live(live_slot& slot, async_state state, std::uint32_t await_site,
                 std::int64_t now_ns) noexcept {
    store(slot.status, static_cast<std::uint64_t>(state) << 32 | await_site);
    store(slot.since_ns, now_ns);
    store(slot.thread, kernel_thread());
}

void set_live_awaiter(live_slot& slot, std::uint64_t awaiter) noexcept {
    store(slot.awaiter, awaiter);
}

void set_live_spawn_site(live_slot& slot, std::uint32_t spawn_site) noexcept {
    store(slot.spawn_site, spawn_site);
}

void end_live(std::uint64_t task) noexcept {
    live_slot* slot = find_live(task);
    // Pairs with claim_slot() of whoever takes the place.
    if (slot != nullptr) __atomic_store_n(&slot->key, std::uint64_t{0}, __ATOMIC_RELEASE);
}

bool read_live(std::uint64_t task, live_task& into) noexcept {
    const live_slot* slot = find_live(task);
    if (slot == nullptr) return false;
    const std::uint64_t key = load(slot->key);
    const std::uint64_t status = load(slot->status);
    into = {load(slot->parent),
            load(slot->awaiter),
            static_cast<async_state>(status >> 32),
            static_cast<std::uint32_t>(status),
            load(slot->since_ns),
            load(slot->spawn_site),
            load(slot->thread)};
    // The slot may have been given to another task meanwhile: then some of this is that one's.
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return load(slot->key) == key && (key & ((std::uint64_t{1} << live_epoch_shift) - 1)) == task;
}

bool set_live_tracking(live_reason reason, bool on) noexcept {
    const std::lock_guard lock(sessions_mutex());
    const bool before = wished || needs != 0;
    const bool wished_before = wished;
    const unsigned needs_before = needs;
    if (reason == live_reason::wished) {
        wished = on;
    } else {
        needs = on ? needs + 1 : needs - 1;
    }
    const bool after = wished || needs != 0;
    if (before && !after) turn_off();
    if (before || !after || turn_on()) return true;
    wished = wished_before;
    needs = needs_before;
    return false;
}

}  // namespace coroscope::runtime::inline tasks

namespace coroscope {

bool track_live_tasks(bool on) noexcept {
    return runtime::set_live_tracking(runtime::live_reason::wished, on);
}

live_tasks_status live_tasks() noexcept {
    using namespace runtime;
    live_tasks_status status;
    const std::uint64_t epoch =
        __atomic_load_n(&coroscope_live_root.epoch, __ATOMIC_ACQUIRE);  // as above
    status.no_room = __atomic_load_n(&coroscope_live_root.no_room, __ATOMIC_RELAXED);
    status.tracked = epoch != 0;
    if (!status.tracked) return status;
    for (std::uint32_t index = 0; index < live_slot_count; ++index) {
        const std::uint64_t key =
            __atomic_load_n(&coroscope_live_root.slots[index].key, __ATOMIC_RELAXED);
        if (key >> live_epoch_shift == epoch) ++status.tasks;
    }
    return status;
}

}  // namespace coroscope
