// SPDX-License-Identifier: Apache-2.0
#pragma once

// An observation and its memory, which comes from a free list of the thread that begins the scope.
// The thread that ends the scope returns it to that list. So a thread allocates only if it has more
// scopes open than ever before.

#include <cstddef>
#include <cstdint>

#include <coroscope/arguments.hpp>
#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/detail/value_source.hpp>
#include <coroscope/observer.hpp>

#include "observer_cache.hpp"

namespace coroscope::detail {

/// The outputs of a scope.
struct kept_outputs {
    argument_writer text;
    value_addresses addresses;
};

/// An observer of the scope. Its entry is null if its start function threw.
struct started_observer {
    runtime::observer_entry* entry;
    observer_context* context;
};

struct observation {
    explicit observation(std::uint32_t with_capacity) noexcept : capacity(with_capacity) {}
    observation(const observation&) = delete;
    observation& operator=(const observation&) = delete;

    scope_facts facts;
    std::uint64_t ticks = 0;  ///< ticks for the session's record; 0: no record
    std::uint64_t mark = 0;
    runtime::sampled_list* lists[2] = {};  ///< they own the entries: global, carried
    kept_outputs* outputs = nullptr;
    char* long_name = nullptr;  ///< a run-time name that does not fit below
    observation* next = nullptr;
    const std::uint32_t capacity;
    std::uint32_t count = 0;
    bool needs_inputs = false;
    bool needs_outputs = false;
    bool needs_ids = false;
    char short_name[61];

    started_observer* begin() noexcept { return reinterpret_cast<started_observer*>(this + 1); }
    started_observer* end() noexcept { return begin() + count; }
};
inline observation* next_of(const observation& seen) noexcept { return seen.next; }

/// Returns an observation with room for that many observers. If memory is short, counts that and
/// returns null.
observation* take_observation(runtime::observer_cache& cache, std::uint32_t capacity) noexcept;

/// `cache` may be null.
void give_back(observation* seen, runtime::observer_cache* cache) noexcept;

void free_observation(observation* seen) noexcept;

/// Copies a temporary name. If there is no memory for a long name, cuts it and counts that.
void keep_name(observation& seen) noexcept;

}  // namespace coroscope::detail

namespace coroscope::runtime::inline observers {

/// Must be called when the thread ends. Frees its cache and the observations in it.
void drop_observer_cache(detail::thread_record& record) noexcept;

}  // namespace coroscope::runtime::inline observers
