// SPDX-License-Identifier: Apache-2.0
#pragma once

// One thread's cache: the lists of observers as it last saw them, the countdowns of each entry, and
// free observations. Only its thread accesses it. The exception are the reference counts of the
// sampled lists: an open observation holds a reference and may release it on another thread.

#include <atomic>
#include <cstdint>

#include <coroscope/detail/scope_facts.hpp>

#include "../writer/thread_record.hpp"
#include "observer_registry.hpp"

namespace coroscope::detail {
struct observation;
}

namespace coroscope::runtime::inline observers {

/// For each kind of scope, the number of scopes up to the next one that an observer sees. 0: the
/// number must be drawn.
struct observer_countdowns {
    std::uint32_t of_kind[detail::scope_kinds];
};

/// A list with the countdowns of one thread.
struct sampled_list {
    std::atomic<std::uint32_t> references{1};
    observer_list* list;
    observer_countdowns* countdowns() noexcept {
        return reinterpret_cast<observer_countdowns*>(this + 1);
    }
};
void release(sampled_list* sampled) noexcept;

/// A callback that runs on this thread, linked to the callbacks that it interrupts.
struct running_callback {
    const observer_entry* entry;
    running_callback* outer;
};

struct observer_cache {
    std::uint64_t version = 0;
    std::uint64_t random = 0;  ///< state of the generator
    sampled_list* global = nullptr;
    sampled_list* carried = nullptr;  ///< the last list carried on this thread
    running_callback* running = nullptr;
    detail::observation* free = nullptr;
    std::uint32_t free_count = 0;
    bool changing = false;  ///< meanwhile scopes of signal handlers and allocators are not observed
};

/// Brings the thread's cache up to date and returns it. Returns null if memory is short or the
/// cache is changing. The thread must be registered.
observer_cache* current_cache(detail::thread_record& record) noexcept;

/// Returns the list that this thread's context carries, with this thread's countdowns, or null.
sampled_list* carried_here(observer_cache& cache, observer_list* list) noexcept;

/// Counts a scope and returns whether the observer sees it. `countdown` is that of the observer and
/// of the scope's kind.
bool is_sampled(observer_cache& cache, std::uint32_t& countdown, double probability) noexcept;

}  // namespace coroscope::runtime::inline observers
