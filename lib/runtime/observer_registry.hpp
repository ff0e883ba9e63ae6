// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who observes: the registered observers, the list of the global ones, and the lists that contexts carry.
//
//   observer ──► observer_entry ◄── observer_list ◄── the process (global), or a node of a context (thread-local)
//                                        ▲
//                                        └── observer_cache: what one thread made of both (observer_cache.hpp)
//
// Lists never change: a change makes another, and counts the version up, by which caches find that they are
// old. An entry lives until no list names it. registry_mutex() guards registration; nothing of the user's runs
// under it.

#include <atomic>
#include <cstdint>

#include <coroscope/observer.hpp>

#include "registry.hpp"

namespace coroscope {

/// The runtime's way into an observer that is being registered.
struct observer_access {
    static detail::observer_calls*& calls(observer& of) noexcept { return of.calls_; }
    static detail::observer_options& options(observer& of) noexcept { return of.options_; }
    static const char*& message(observer& of) noexcept { return of.message_; }
};

}  // namespace coroscope

namespace coroscope::runtime {

struct observer_entry {
    observer_entry(detail::observer_calls* with, const detail::observer_options& asked) noexcept
        : calls(with), options(asked) {}
    observer_entry(const observer_entry&) = delete;
    observer_entry& operator=(const observer_entry&) = delete;
    ~observer_entry() { delete calls; }

    std::atomic<std::uint32_t> references{1};
    std::atomic<bool> removed{false};
    observer_handle handle = 0;
    detail::observer_calls* calls;
    detail::observer_options options;
    std::uint32_t carried_by = 0;    ///< node that was made for a thread-local one; 0: it is global
    observer_entry* next = nullptr;  ///< the one registered before
};
void release(observer_entry* entry) noexcept;

/// Entries in the order of their registration. Immutable but for its references.
struct observer_list {
    std::atomic<std::uint32_t> references{1};
    std::uint32_t size = 0;
    observer_entry* const* begin() const noexcept {
        return reinterpret_cast<observer_entry* const*>(this + 1);
    }
    observer_entry* const* end() const noexcept { return begin() + size; }
};
inline observer_list* retain(observer_list* list) noexcept {
    if (list != nullptr) list->references.fetch_add(1, std::memory_order_relaxed);
    return list;
}
void release(observer_list* list) noexcept;

/// Those of a list that are not removed (null: none), and one more, if any. Null where memory is short, and where
/// the list would be empty.
observer_list* make_list(const observer_list* before, observer_entry* added) noexcept;

/// Does it have an entry that is not removed?
bool has_observers(const observer_list* list) noexcept;

/// Counts changes of the global list. Acquire: pairs with the change.
std::uint64_t observer_version() noexcept;
/// The global list, retained, and its version.
observer_list* global_observers(std::uint64_t& version) noexcept;
/// Where the generators of all threads start; 0: each somewhere else.
std::uint64_t sampling_seed() noexcept;

/// The bit that a new thread's gate starts with. Under the lock of the registry.
std::int32_t observer_gate() noexcept;
/// Nobody was found who observes here: clears the thread's bit if that is still so.
void close_observer_gate() noexcept;

/// What a context carries: the thread-local observers, and whether any see it. The list is kept by the context.
struct carried_observers {
    observer_list* list = nullptr;
    bool enabled = true;
};
carried_observers observers_here() noexcept;

/// This thread's context carries these from here on (takes the list's reference over). Gives the node, which the
/// caller holds; 0 where memory is short: the reference stays with the caller.
std::uint32_t carry_observers(const carried_observers& next) noexcept;
/// Takes the node off if it is the topmost, and lets it go. Else nothing happens.
bool stop_carrying(std::uint32_t node) noexcept;

/// Does any context carry something? If so, the thread looks whether its own does.
bool contexts_carry_observers() noexcept;
void look_for_carried_observers() noexcept;

/// Does an observer that sees this thread hold the slot of a session?
bool observer_holds_slot() noexcept;

/// The thread ends.
void drop_observer_cache(detail::thread_record& record) noexcept;

enum class observer_fault : std::uint8_t { callback_threw, unknown_handle, no_memory, text_cut };
/// Counts it; the first of each kind writes a line to stderr, with `text` behind it.
void count_fault(observer_fault kind, const char* text = "") noexcept;

}  // namespace coroscope::runtime
