// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sites and their ids. An id is given once per process on first use and stays; each live session's
// trace gets the definition then, each later session at its start. Thread-safe; registration takes a
// lock, looking up an interned location does not.

#include <cstdint>
#include <string_view>

#include <coroscope/site.hpp>

#include "chunk_store.hpp"
#include "quiet_mutex.hpp"

namespace coroscope::runtime {

/// A stable copy of a site that has its id; never freed. A debugger reads the first six members.
struct known_site {
    const known_site* next;  ///< the one before it
    const char* label;
    const char* function;
    const char* file;
    std::uint32_t id;
    std::uint32_t line;
    trace::site_body body;
};
extern constinit const known_site* known_sites;  // the newest

/// The site of an id, or null. Lock-free.
const known_site* find_site(std::uint32_t id) noexcept;

/// Has the site got its id?
inline bool is_registered(const site& where) noexcept {
    // pairs with its registration
    return __atomic_load_n(&where.duration_limit, __ATOMIC_ACQUIRE) != 0;
}

/// Gives the site its id if it has none. Returns false when memory is short.
bool register_site(site& where) noexcept;

/// The site of a std::source_location (by its address), made on first sight. Null when memory is short, or the
/// table full, which is told of once: nothing is then made for it.
/// Label: "co_await in F" for awaits; the function's name for coroutines and jobs.
site* intern_location(const void* location, site_kind kind) noexcept;

/// The site of an integration's operation, "type.operation", by the addresses of two literals; of
/// just the operation where the type is empty. `location`: the std::source_location where it was started,
/// null where that is unknown.
site* intern_operation(const char* type, const char* operation,
                       const void* location = nullptr) noexcept;

/// The site of kind operation with this name, by its content; cut at trace::payload_limit. Null when memory or room
/// for sites is short, or the name is empty. Takes a lock.
site* intern_name(std::string_view name) noexcept;

/// Held while a site gets its id and its definition goes to the live stores.
quiet_mutex& sites_mutex() noexcept;

/// Writes the definitions of all sites so far. To be called once the session is live, so that what is
/// registered meanwhile is not missed.
void define_all_sites(chunk_store& store) noexcept;

}  // namespace coroscope::runtime
