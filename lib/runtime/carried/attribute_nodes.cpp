// SPDX-License-Identifier: Apache-2.0

#include "attribute_nodes.hpp"

#include <cstring>
#include <new>

#include <coroscope/detail/task_state.hpp>

#include "../base/fault_record.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::runtime::inline carried {
namespace {

using detail::carried_attributes;
using detail::carried_session;
using detail::make_carried;

// Handles and slots.

constexpr unsigned slot_bits = 20;
constexpr unsigned segment_bits = 10;
constexpr std::uint32_t slot_mask = (1U << slot_bits) - 1;
constexpr std::uint32_t segment_slots = 1U << segment_bits;
constexpr std::uint32_t generation_mask = (unknown_bit >> slot_bits) - 1;

constinit std::atomic<attribute_node*> segments[1U << (slot_bits - segment_bits)];
constinit std::atomic<std::uint32_t> used_slots{1};  // no handle has slot 0
constinit std::atomic<std::uint64_t> free_slots{0};  // count of changes << 32 | first free slot
constinit std::atomic<std::uint32_t> last_serial{0};
constinit std::atomic<std::uint64_t> observing_nodes{0};  // that carry observers, in all contexts
constinit fault_record without_room{
    "coroscope: 1048575 attributes and thread-local observers live, and there is no room for more: "
    "further attributes are unknown"};

attribute_node& node_of(std::uint32_t slot) noexcept {
    return segments[slot >> segment_bits].load(
        std::memory_order_acquire)[slot & (segment_slots - 1)];
}

constexpr std::uint32_t handle_of(std::uint32_t slot, std::uint64_t life) noexcept {
    return slot | static_cast<std::uint32_t>((life >> 32) & generation_mask) << slot_bits;
}
constexpr bool is_of(std::uint64_t life, std::uint32_t handle) noexcept {
    return ((life >> 32) & generation_mask) == below_unknown(handle) >> slot_bits &&
           static_cast<std::uint32_t>(life) != 0;
}

// The count of changes prevents the ABA problem: without it, a slot that was taken and given back
// in between would look unchanged.
std::uint32_t take_free_slot() noexcept {
    std::uint64_t first = free_slots.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(first) != 0) {
        const std::uint32_t next =
            node_of(static_cast<std::uint32_t>(first)).next.load(std::memory_order_relaxed);
        const std::uint64_t changed = ((first >> 32) + 1) << 32 | next;
        if (free_slots.compare_exchange_weak(first, changed, std::memory_order_acq_rel,
                                             std::memory_order_acquire))
            return static_cast<std::uint32_t>(first);
    }
    return 0;
}

void give_slot(std::uint32_t slot) noexcept {
    std::uint64_t first = free_slots.load(std::memory_order_relaxed);
    std::uint64_t changed = 0;
    do {
        node_of(slot).next.store(static_cast<std::uint32_t>(first), std::memory_order_relaxed);
        changed = ((first >> 32) + 1) << 32 | slot;
    } while (!free_slots.compare_exchange_weak(first, changed, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
}

// Allocates the slot's segment if it does not exist. If another thread stores its segment first,
// frees this one.
bool has_segment(std::uint32_t slot) noexcept {
    std::atomic<attribute_node*>& segment = segments[slot >> segment_bits];
    if (segment.load(std::memory_order_acquire) != nullptr) return true;
    auto* made = new (std::nothrow) attribute_node[segment_slots];
    if (made == nullptr) return false;
    attribute_node* none = nullptr;
    if (!segment.compare_exchange_strong(none, made, std::memory_order_acq_rel)) delete[] made;
    return true;
}

// Skips 0, which means no attribute, and attribute_unknown, which means all attributes that had no
// room.
std::uint32_t new_serial() noexcept {
    std::uint32_t serial = 0;
    do {
        serial = last_serial.fetch_add(1, std::memory_order_relaxed) + 1;
    } while (serial == 0 || serial == trace::attribute_unknown);
    return serial;
}

std::uint32_t take_new_slot() noexcept {
    std::uint32_t slot = used_slots.load(std::memory_order_relaxed);
    do {
        if (slot > slot_mask || !has_segment(slot)) return 0;
    } while (!used_slots.compare_exchange_weak(slot, slot + 1, std::memory_order_relaxed));
    return slot;
}

}  // namespace

std::uint32_t make_attribute(std::uint32_t parent) noexcept {
    std::uint32_t slot = take_free_slot();
    if (slot == 0) slot = take_new_slot();
    if (slot == 0) {
        without_room.note();
        return 0;
    }
    attribute_node& node = node_of(slot);
    node.parent = parent;
    node.task = this_thread.frame == nullptr ? 0 : this_thread.frame->task;
    node.serial = new_serial();
    node.announced.store(0, std::memory_order_relaxed);
    const std::uint64_t life = ((node.life.load(std::memory_order_relaxed) >> 32) + 1) << 32 | 1;
    node.life.store(life, std::memory_order_release);
    return handle_of(slot, life);
}

void give_observers(attribute_node& node, observers_head head) noexcept {
    node.key_bytes = observers_key;
    node.value_bytes = 0;
    std::memcpy(node.text, &head, sizeof head);
    observing_nodes.fetch_add(1, std::memory_order_relaxed);
}

bool contexts_carry_observers() noexcept {
    return observing_nodes.load(std::memory_order_relaxed) != 0;
}

attribute_node& attribute_at(std::uint32_t handle) noexcept { return node_of(handle & slot_mask); }

namespace {

void forget_observers(const attribute_node& node) noexcept {
    observers_head head{};
    std::memcpy(&head, node.text, sizeof head);
    head.forget(node);
    observing_nodes.fetch_sub(1, std::memory_order_relaxed);
}

bool is_removed(const attribute_node& node) noexcept {
    return carries_observers(node) && node.announced.load(std::memory_order_relaxed) != 0;
}

void release_unless_last(attribute_node& node) noexcept {
    std::uint64_t known = node.life.load(std::memory_order_relaxed);
    while (static_cast<std::uint32_t>(known) > 1)
        if (node.life.compare_exchange_weak(known, known - 1, std::memory_order_acq_rel,
                                            std::memory_order_relaxed))
            return;
}

}  // namespace

std::uint32_t carried_beneath(std::uint32_t handle) noexcept {
    handle = is_unknown(handle) ? below_unknown(handle) : attribute_at(handle).parent;
    while (handle != 0 && !is_unknown(handle) && is_removed(attribute_at(handle)))
        handle = attribute_at(handle).parent;
    return handle;
}

// A task inherits the attributes that it carries at its start; the others it has set itself. If an
// attribute had no room, its block is unknown, so it counts as inherited.
bool is_inherited(std::uint32_t handle) noexcept {
    const detail::task_state* const running = this_thread.frame;
    return running != nullptr && running->task == task_of(this_thread.mark) &&
           carried_attributes(running->carried) == handle &&
           (is_unknown(handle) || attribute_at(handle).task != running->task);
}

void own_attributes(std::uint64_t task, std::uint64_t carried) noexcept {
    for (std::uint32_t at = below_unknown(carried_attributes(carried)); at != 0;
         at = below_unknown(attribute_at(at).parent))
        attribute_at(at).task = task;
}

void leave_observers(std::uint32_t handle) noexcept {
    attribute_node& node = attribute_at(handle);
    node.announced.store(1, std::memory_order_relaxed);
    release_unless_last(node);
}

std::uint32_t topmost_attribute(std::uint32_t handle) noexcept {
    while (handle != 0 && !is_unknown(handle) && carries_observers(attribute_at(handle)))
        handle = attribute_at(handle).parent;
    return handle;
}

std::uint64_t retain_carried(std::uint64_t carried) noexcept {
    if (carried_attributes(carried) == 0) [[likely]]
        return carried;
    return make_carried(carried_session(carried), retain_attributes(carried_attributes(carried)));
}

void replace_carried(std::uint64_t& kept, std::uint64_t carried) noexcept {
    const std::uint32_t before = carried_attributes(kept);
    kept = retain_carried(carried);
    release_attributes(before);
}

}  // namespace coroscope::runtime::inline carried

namespace coroscope::detail {

using namespace runtime;

std::uint32_t retain_attributes(std::uint32_t handle) noexcept {
    if (below_unknown(handle) == 0) return handle;
    std::atomic<std::uint64_t>& life = attribute_at(handle).life;
    std::uint64_t known = life.load(std::memory_order_acquire);
    while (is_of(known, handle))
        if (life.compare_exchange_weak(known, known + 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire))
            return handle;
    return handle & unknown_bit;
}

void release_attributes(std::uint32_t handle) noexcept {
    while (below_unknown(handle) != 0) {
        attribute_node& node = attribute_at(handle);
        const std::uint32_t parent = node.parent;
        if (static_cast<std::uint32_t>(node.life.fetch_sub(1, std::memory_order_acq_rel)) != 1)
            return;
        if (carries_observers(node)) [[unlikely]]
            forget_observers(node);
        give_slot(handle & slot_mask);
        handle = parent;
    }
}

}  // namespace coroscope::detail
