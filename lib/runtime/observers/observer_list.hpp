// SPDX-License-Identifier: Apache-2.0
#pragma once

// Observers and lists of them, which the process (global observers) and contexts (thread-local
// ones) keep.
//
//   observer ──► observer_entry ◄── observer_list ◄── the process, or a node of a context
//                                        ▲
//                                        └── observer_cache: both, as one thread uses them
//
// A list never changes. A change of the observers makes a new list and raises the version, so that
// caches detect that they are out of date. An entry lives until no list refers to it.
//
// Threads: any.

#include <atomic>
#include <cstdint>

#include <coroscope/observer.hpp>

namespace coroscope::runtime::inline observers {

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
    std::uint32_t carried_by = 0;    ///< node of a thread-local observer; 0: global
    observer_entry* next = nullptr;  ///< the entry registered before
};
void release(observer_entry* entry) noexcept;
inline bool is_live(const observer_entry* entry) noexcept {
    return !entry->removed.load(std::memory_order_relaxed);
}

/// Entries in the order of their registration. Immutable, except for the reference count.
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

/// Makes a list of the entries of `before` (null: none) that are not removed, and of `added` unless
/// it is null. Returns null if memory is short or the list would be empty.
observer_list* make_list(const observer_list* before, observer_entry* added) noexcept;

/// Returns whether the list has an entry that is not removed. A null list has none.
bool has_observers(const observer_list* list) noexcept;

}  // namespace coroscope::runtime::inline observers
