// SPDX-License-Identifier: Apache-2.0
#pragma once

// The attributes that contexts carry. A node is one attribute on top of the attributes that were
// carried before (its parent). A context has the handle of its topmost node. Code that keeps a
// handle beyond a block must retain it.
//
// If there is no room for a new attribute, the attribute is unknown. The context then keeps its
// handle with a bit set (with_unknown()). The attributes of that handle are unknown from then on,
// because the new attribute may have replaced one of them.
//
// A handle is a slot and a generation. Nodes are never freed; a node that is reused has another
// generation. So a handle that outlives its node finds nothing. All functions are lock-free. Memory
// grows by segments up to the limit of slots.

#include <atomic>
#include <cstdint>

#include <coroscope/attribute.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/task_state.hpp>

#include "../base/own_memory.hpp"

namespace coroscope::runtime::inline carried {

struct attribute_node : own_memory {
    std::atomic<std::uint64_t> life{0};  ///< generation << 32 | references
    std::uint64_t set_ticks = 0;         ///< when it was set
    std::uint64_t task = 0;              ///< the task whose block set it; 0: unknown
    std::atomic<std::uint32_t> next{0};  ///< while it is free: the next free slot
    std::uint32_t parent = 0;            ///< handle
    std::uint32_t serial = 0;  ///< id of the attribute in traces; unique among 2^32 attributes
    /// The low bits of the generation of the session that has a record of this attribute, unless
    /// that session overwrites chunks. In a node that carries observers: 1 once the observers are
    /// removed.
    std::atomic<std::uint16_t> announced{0};
    std::uint8_t key_bytes = 0;
    std::uint8_t value_bytes = 0;
    char text[attribute_bytes];  ///< key, value
};
static_assert(sizeof(attribute_node) == 144);

/// A bit of a handle: set if an attribute that had no room was set on top of the node. If the other
/// bits are 0, there is no node below it.
inline constexpr std::uint32_t unknown_bit = std::uint32_t{1} << 31;
constexpr bool is_unknown(std::uint32_t handle) noexcept { return (handle & unknown_bit) != 0; }
constexpr std::uint32_t with_unknown(std::uint32_t handle) noexcept { return handle | unknown_bit; }
/// Returns the handle without that bit; 0: there is no node.
constexpr std::uint32_t below_unknown(std::uint32_t handle) noexcept {
    return handle & ~unknown_bit;
}

/// Returns a new node with one reference, which takes over the caller's reference to the parent.
/// Returns 0 if memory or slots are short; the caller then keeps its reference.
std::uint32_t make_attribute(std::uint32_t parent) noexcept;

/// This value in place of a key's size marks a node that carries observers and no attribute
/// (observer_carrying.cpp).
inline constexpr std::uint8_t observers_key = 0xff;
inline bool carries_observers(const attribute_node& node) noexcept {
    return node.key_bytes == observers_key;
}
/// The first bytes of the text of such a node.
struct observers_head {
    void (*forget)(const attribute_node&
                       node) noexcept;  ///< called when the last reference to the node is released
};
/// Makes a new node carry observers. The caller owns the data behind the head.
void give_observers(attribute_node& node, observers_head head) noexcept;
/// Returns whether any context carries observers.
bool contexts_carry_observers() noexcept;

/// Returns the node of a handle. The caller must hold a reference, and below_unknown(handle) must
/// not be 0.
attribute_node& attribute_at(std::uint32_t handle) noexcept;

/// Returns the handle of the nearest node below `handle` whose observers, if it carries any, are
/// not removed. A context carries that node when the block of `handle` ends. The caller must hold a
/// reference to `handle`.
std::uint32_t carried_beneath(std::uint32_t handle) noexcept;

/// Marks the observers of this node as removed. The node itself lives as long as there are nodes on
/// top of it. Releases the caller's reference unless that is the last one, because a context may
/// still carry the node without a reference.
void leave_observers(std::uint32_t handle) noexcept;

/// Returns whether the task that runs here carries this node because it was started under it. Such
/// a task keeps the node after the end of the node's block, also if the task destroys the frame of
/// that block.
bool is_inherited(std::uint32_t handle) noexcept;

/// Called if a task's code ran before the task was known. Such a task carried no attributes at its
/// start, so it has set all attributes that it carries now.
void own_attributes(std::uint64_t task, std::uint64_t carried) noexcept;

/// Returns the attribute at or below this node; 0: none. An unknown handle counts as one.
std::uint32_t topmost_attribute(std::uint32_t handle) noexcept;

using detail::release_attributes;
using detail::retain_attributes;

/// Retains the attributes of a carried word that is kept, and removes them from the word if they
/// have ended.
std::uint64_t retain_carried(std::uint64_t carried) noexcept;

/// Does the same, stores the result in `kept`, and releases the attributes of the word that `kept`
/// held before.
void replace_carried(std::uint64_t& kept, std::uint64_t carried) noexcept;

/// `kept` = `carried`, with references.
[[gnu::always_inline]] inline void keep_carried(std::uint64_t& kept,
                                                std::uint64_t carried) noexcept {
    if ((kept ^ carried) >> 32 != 0) [[unlikely]]
        return replace_carried(kept, carried);
    kept = carried;
}

/// Releases the attributes of a kept word.
[[gnu::always_inline]] inline void drop_carried(std::uint64_t& kept) noexcept {
    if (kept >> 32 != 0) [[unlikely]]
        replace_carried(kept, detail::carried_session(kept));
}

}  // namespace coroscope::runtime::inline carried
