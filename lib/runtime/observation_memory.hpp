// SPDX-License-Identifier: Apache-2.0
#pragma once

// An observation and where its memory comes from: the free list of the thread that begins the scope, to which the
// thread that ends it adds. So a thread that observes allocates nothing once it has had as many scopes open.

#include <cstddef>
#include <cstdint>

#include <coroscope/arguments.hpp>
#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/detail/value_source.hpp>
#include <coroscope/observer.hpp>

#include "observer_cache.hpp"

namespace coroscope::detail {

/// What a scope gave as its outputs.
struct kept_outputs {
    argument_writer text;
    value_addresses addresses;
};

/// An observer of the scope. Its entry is null where its start threw.
struct started_observer {
    runtime::observer_entry* entry;
    observer_context* context;
};

struct observation {
    explicit observation(std::uint32_t with_capacity) noexcept : capacity(with_capacity) {}
    observation(const observation&) = delete;
    observation& operator=(const observation&) = delete;

    scope_facts facts;
    std::uint64_t ticks = 0;  ///< what the session is told; 0: nothing
    std::uint64_t mark = 0;
    runtime::sampled_list* lists[2] =
        {};  ///< which keep the entries: the global one, the carried one
    kept_outputs* outputs = nullptr;
    char* long_name = nullptr;  ///< a name of run time that has no room below
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

/// Room for that many observers; null, and counted, where memory is short.
observation* take_observation(runtime::observer_cache& cache, std::uint32_t capacity) noexcept;

/// `cache` may be null.
void give_back(observation* seen, runtime::observer_cache* cache) noexcept;

void free_observation(observation* seen) noexcept;

/// Copies a name that is a temporary one. Without memory for a long one it is cut, and counted.
void keep_name(observation& seen) noexcept;

}  // namespace coroscope::detail
