// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sites and their ids. A site gets its id at its first use and keeps it for the life of the
// process. Its definition is then written to the trace of each live session, and to that of each
// later session at its start. Thread-safe. Registration takes a lock; the lookup of an interned
// location does not.

#include <cstdint>
#include <string_view>

#include <coroscope/site.hpp>
#include <coroscope/trace/spawn_format.hpp>

#include "../base/quiet_mutex.hpp"
#include "../store/chunk_store.hpp"

namespace coroscope::runtime::inline calls {
struct call_step;
}

namespace coroscope::runtime::inline writer {

/// A copy of a site with an id, which is never freed. A debugger's script reads the first six
/// members.
struct known_site {
    const known_site* next;  ///< the site registered before it
    const char* label;
    const char* function;
    const char* file;
    std::uint32_t id;
    std::uint32_t line;
    trace::site_body body;
    trace::spawn_place_body spawn;  ///< no place if `inside` is 0
    const call_step* calls;         ///< the calls that spawn at the site; null: unknown
    site* origin;                   ///< dangles after an unload of its library: sites_switching.cpp
};
extern constinit const known_site* known_sites;  // the newest

/// Returns the site with that id, or null. Lock-free.
const known_site* find_site(std::uint32_t id) noexcept;

/// Returns whether the site has an id.
inline bool is_registered(const site& where) noexcept {
    // pairs with its registration
    return __atomic_load_n(&where.tag, __ATOMIC_ACQUIRE) != 0;
}

/// Returns whether the site has an id and its scopes are recorded. Afterwards the tag may be read.
inline bool is_ready(const site& where) noexcept {
    // pairs with its registration
    return __atomic_load_n(&where.duration_limit, __ATOMIC_ACQUIRE) != 0;
}

/// Returns whether scopes of the site are not recorded (set_categories()). False for a site without
/// an id, and while another thread registers it.
bool is_switched_off(const site& where) noexcept;

/// Stores the tag of a site that gets this id, and then its limit. The caller must hold the lock of
/// sites.
void publish(site& where, std::uint32_t id) noexcept;

/// Gives the site an id if it has none. Returns false if memory is short.
bool register_site(site& where) noexcept;

/// Returns the label of a site, which is registered if necessary. The label of a site of kind
/// function is the whole name of its function.
const char* label_of(site& where) noexcept;

/// The site of a std::source_location (by its address), made at the first call. Returns null if
/// memory is short or the table is full; a full table is reported once. Label: "co_await in F" for
/// awaits; the function's name for coroutines and jobs. `frame_bytes`: the size of the coroutine's
/// frame, 0 if it is unknown; that of the first call is kept.
site* intern_location(const void* location, site_kind kind, std::uint32_t frame_bytes = 0) noexcept;

/// Facts about the tasks of a site.
struct coroutine_facts {
    std::uint32_t frame_bytes = 0;
    std::uintptr_t inside = 0;  ///< as in trace::spawn_place_body; 0: unknown
    std::uintptr_t caller = 0;
    const call_step* calls = nullptr;  ///< end of the path of the calls that spawn it
};

/// Returns the site of the coroutine at that std::source_location for spawns at one place, with the
/// texts of intern_location(). If the place is unknown or the table is half full, returns the site
/// of intern_location().
site* intern_spawn(const void* location, const coroutine_facts& facts) noexcept;

/// Returns the site of an integration's operation, which is identified by the addresses of two
/// literals. Its label is "type.operation", or "operation" if the type is empty. `location` is the
/// std::source_location of the operation's start, or null if it is unknown. `calls`: the end of the
/// path of the calls that spawn it; null if that is unknown. If the table is half full, `calls` has
/// no effect.
site* intern_operation(const char* type, const char* operation, const void* location = nullptr,
                       const call_step* calls = nullptr) noexcept;

/// Returns the site of a coroutine, which is identified by the addresses of two
/// std::source_locations. `inside` is in the coroutine's function and gives its name. `place` is
/// the place of the spawn or, if that is unknown, `inside` again.
site* intern_coroutine(const void* inside, const void* place) noexcept;

/// Returns the site of kind operation with this name. Equal names have one site. The name is cut at
/// trace::payload_limit. Returns null if memory or room for sites is short, or if the name is
/// empty. Takes a lock.
site* intern_name(std::string_view name) noexcept;

/// Returns the site of kind resource with this name as its label and this literal as its category.
/// The rules of intern_name() apply.
site* intern_resource(std::string_view name, const char* category) noexcept;

/// The lock that is held while a site gets its id and its definition is written to the live stores.
quiet_mutex& sites_mutex() noexcept;

/// Writes the definitions of all sites so far. The session must be live already, so that sites that
/// are registered meanwhile are not missed.
void define_all_sites(chunk_store& store) noexcept;

}  // namespace coroscope::runtime::inline writer
