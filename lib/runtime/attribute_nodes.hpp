// SPDX-License-Identifier: Apache-2.0
#pragma once

// The attributes that contexts carry. A node is one attribute on top of those that were carried before
// (its parent); a context names the topmost by a handle. Whoever keeps a handle beyond a block retains it.
//
// A handle is a slot and a generation: nodes are reused and never freed, so a handle that outlived
// its node finds nothing. Lock-free; memory grows by segments up to the limit of slots.

#include <atomic>
#include <cstdint>

#include <coroscope/attribute.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/task_state.hpp>

#include "own_memory.hpp"

namespace coroscope::runtime {

struct attribute_node : own_memory {
    std::atomic<std::uint64_t> life{0};  ///< generation << 32 | references
    std::uint64_t set_ticks = 0;         ///< when it was set
    std::uint64_t task = 0;              ///< whose block it is of: id, 0: of none that is known
    std::atomic<std::uint32_t> next{0};  ///< while it is free: the next free slot
    std::uint32_t parent = 0;            ///< handle
    std::uint32_t serial = 0;            ///< names it in traces; never reused before 2^32 others
    /// Low bits of the generation of the session that knows it, unless that overwrites. Of observers: 1 once they are
    /// removed.
    std::atomic<std::uint16_t> announced{0};
    std::uint8_t key_bytes = 0;
    std::uint8_t value_bytes = 0;
    char text[attribute_bytes];  ///< key, value
};
static_assert(sizeof(attribute_node) == 144);

/// A new node with one reference, which takes over the caller's reference to the parent. 0 when memory
/// or slots are short: the parent's reference stays with the caller.
std::uint32_t make_attribute(std::uint32_t parent) noexcept;

/// In place of a key's size: the node carries no attribute but observers, see observer_carrying.cpp.
inline constexpr std::uint8_t observers_key = 0xff;
inline bool carries_observers(const attribute_node& node) noexcept {
    return node.key_bytes == observers_key;
}
/// Such a node goes.
void forget_observers(const attribute_node& node) noexcept;

/// The node of a handle that the caller holds a reference to.
attribute_node& attribute_at(std::uint32_t handle) noexcept;

/// What is carried where this node, which the caller holds, is not any more: the one beneath it, removed observers passed
/// over.
std::uint32_t carried_beneath(std::uint32_t handle) noexcept;

/// The observers of this node are removed, though something may be carried on top of it: it goes with that. The caller's
/// reference does now, unless it is the last: then a context that keeps none may carry it, and it stays.
void leave_observers(std::uint32_t handle) noexcept;

/// Does the task that runs here carry this node because it was started under it? Then it keeps it though its block ends,
/// whose frame it destroys.
bool is_inherited(std::uint32_t handle) noexcept;

/// A task's code ran where nobody knew whose it is, with nothing carried at first: what is carried now it has set itself.
void own_attributes(std::uint64_t task, std::uint64_t carried) noexcept;

/// The attribute at or beneath this node; 0: none.
std::uint32_t topmost_attribute(std::uint32_t handle) noexcept;

using detail::release_attributes;
using detail::retain_attributes;

/// A carried word that is kept: retains its attributes, and drops them from it where they are gone.
std::uint64_t retain_carried(std::uint64_t carried) noexcept;

/// The same in place of another such word.
void replace_carried(std::uint64_t& kept, std::uint64_t carried) noexcept;

/// `kept` = `carried`, with references.
[[gnu::always_inline]] inline void keep_carried(std::uint64_t& kept,
                                                std::uint64_t carried) noexcept {
    if ((kept ^ carried) >> 32 != 0) [[unlikely]]
        return replace_carried(kept, carried);
    kept = carried;
}

/// The task that ran here, and has its id, keeps what is carried here.
[[gnu::always_inline]] inline void keep_context(detail::task_state& task) noexcept {
    const std::uint64_t carried = detail::this_thread.carried;
    if ((task.flags & detail::task_installed) == 0) own_attributes(task.task, carried);
    keep_carried(task.carried, carried);
}

/// The kept word is kept no longer: its attributes go.
[[gnu::always_inline]] inline void drop_carried(std::uint64_t& kept) noexcept {
    if (kept >> 32 != 0) [[unlikely]]
        replace_carried(kept, detail::carried_session(kept));
}

/// Tells the session of this thread what `task` carries from here on, where something records. 0: nothing.
void record_attributes(std::uint64_t task, std::uint32_t handle) noexcept;

/// The same after a record of its own: only where something is carried.
inline void record_carried(std::uint64_t task, std::uint64_t carried) noexcept {
    if (carried >> 32 != 0) [[unlikely]]
        record_attributes(task, static_cast<std::uint32_t>(carried >> 32));
}

/// The same at the beginning of a chunk, of what runs on this thread.
void repeat_what_is_carried() noexcept;

/// Says it again of what runs on this thread from here on, where the session overwrites what was said before.
inline void repeat_carried(std::uint64_t task, std::uint64_t carried) noexcept {
    if ((detail::load_gate() & detail::gate_task_table) != 0) record_carried(task, carried);
}

/// While one lives the thread carries what another context than that of its mark does: of a chunk that is opened meanwhile
/// nobody says what is carried.
class context_change {
public:
    context_change() noexcept;
    ~context_change();
    context_change(const context_change&) = delete;
    context_change& operator=(const context_change&) = delete;

private:
    detail::thread_record* record_;
    bool before_ = false;
};

/// What a context record says of the attributes: their serial, defined in this thread's session. 0: none.
std::uint32_t announced_serial(std::uint32_t handle) noexcept;

}  // namespace coroscope::runtime
