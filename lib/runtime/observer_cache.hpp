// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one thread keeps of who observes: the lists as it last saw them, each entry with its countdowns, and the
// observations that are free for reuse. Touched by its thread alone, but for the references of the sampled lists,
// which an open observation holds and may give back elsewhere.

#include <atomic>
#include <cstdint>

#include <coroscope/detail/scope_facts.hpp>

#include "observer_registry.hpp"

namespace coroscope::detail {
struct observation;
}

namespace coroscope::runtime {

/// How many scopes, of each kind, until the next that an observer sees; 0: to be drawn.
struct observer_countdowns {
    std::uint32_t of_kind[detail::scope_kinds];
};

/// A list as one thread samples it.
struct sampled_list {
    std::atomic<std::uint32_t> references{1};
    observer_list* list;
    observer_countdowns* countdowns() noexcept {
        return reinterpret_cast<observer_countdowns*>(this + 1);
    }
};
void release(sampled_list* sampled) noexcept;

/// A callback that runs on this thread, and those that it interrupts.
struct running_callback {
    const observer_entry* entry;
    running_callback* outer;
};

struct observer_cache {
    std::uint64_t version = 0;
    std::uint64_t random = 0;  ///< state of the generator
    sampled_list* global = nullptr;
    sampled_list* carried = nullptr;  ///< the last one that a context here carried
    running_callback* running = nullptr;
    detail::observation* free = nullptr;
    std::uint32_t free_count = 0;
    bool changing =
        false;  ///< it is being brought up to date: what an interrupt observes now is passed over
};

/// The thread's cache, up to date; null where memory is short or it is changing. Precondition: it is registered.
observer_cache* current_cache(detail::thread_record& record) noexcept;

/// What the context here carries, as this thread samples it. Null: nothing.
sampled_list* carried_here(observer_cache& cache, observer_list* list) noexcept;

/// Is it this scope's turn, by the countdown of the observer and kind?
bool is_sampled(observer_cache& cache, std::uint32_t& countdown, double probability) noexcept;

}  // namespace coroscope::runtime
