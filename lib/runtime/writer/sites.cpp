// SPDX-License-Identifier: Apache-2.0
#include "sites.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include <coroscope/detail/location.hpp>
#include <coroscope/trace/format.hpp>

#include "../base/fault_record.hpp"
#include "../base/forks.hpp"
#include "../base/kept_errno.hpp"
#include "../base/lasting_memory.hpp"
#include "categories.hpp"
#include "function_title.hpp"
#include "session_table.hpp"
#include "site_keys.hpp"
#include "spawn_facts.hpp"
#include "thread_counts.hpp"

namespace coroscope::runtime::inline writer {

constinit const known_site* known_sites = nullptr;

namespace {

constexpr std::uint32_t no_id = 0;

// An interned string with its id. Strings and sites are copies, because the library that has the
// originals may be unloaded.
struct string_entry {
    string_entry* next;
    std::uint32_t id;
    std::uint32_t size;
    char text[1];  // `size` characters and a NUL
};
constexpr const char* no_text = "";

constinit quiet_mutex mutex;
constinit function_title titles;  // under the lock
constinit std::uint32_t last_string = no_id;
constinit std::uint32_t last_site = no_id;

constexpr std::size_t string_buckets = 1024;
constinit string_entry* string_table[string_buckets] = {};

// Sites by id, for lookups without a lock. Sites with larger ids are only in the list.
constexpr std::size_t directory_slots = 32768;
constinit std::atomic<const known_site*> directory[directory_slots];

void define(chunk_store& store, const string_entry& entry) noexcept {
    store.append_metadata(0, trace::make_tag(trace::record_kind::string, entry.id, entry.size),
                          entry.text, entry.size);
}
void define(chunk_store& store, const known_site& entry) noexcept {
    store.append_metadata(0, trace::make_tag(trace::record_kind::site, entry.id, 0), &entry.body,
                          sizeof entry.body);
    define_spawns(store, entry.spawn, entry.calls);
}

string_entry*& bucket_of(std::string_view text) noexcept {
    std::size_t hash = 14695981039346656037U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return string_table[hash % string_buckets];
}

const string_entry* find_text(std::string_view text) noexcept {
    for (string_entry* entry = bucket_of(text); entry != nullptr; entry = entry->next) {
        if (std::string_view(entry->text, entry->size) == text) return entry;
    }
    return nullptr;
}

const string_entry* intern(std::string_view text) noexcept {
    if (text.empty()) return nullptr;
    text = text.substr(0, trace::payload_limit);
    if (const string_entry* known = find_text(text)) return known;
    string_entry*& bucket = bucket_of(text);
    auto* entry = static_cast<string_entry*>(take_lasting(sizeof(string_entry) + text.size()));
    if (entry == nullptr) return nullptr;
    entry->id = ++last_string;
    entry->size = static_cast<std::uint32_t>(text.size());
    *std::copy(text.begin(), text.end(), entry->text) = '\0';
    entry->next = bucket;
    bucket = entry;
    for_each_store([entry](chunk_store& store) { define(store, *entry); });
    return entry;
}

// Interns a text of a site: returns its id, and the address of its copy.
std::uint32_t intern(std::string_view text, const char** copy) noexcept {
    const string_entry* entry = intern(text);
    if (copy != nullptr) *copy = entry == nullptr ? no_text : entry->text;
    return entry == nullptr ? no_id : entry->id;
}

// Returns the label to store. For a scope that is named after its function, it is the function's
// whole name, not only the last part of it. The caller must hold the lock.
std::string_view label_to_register(const site& where) noexcept {
    if (where.kind != site_kind::function || *where.function == '\0') return where.label;
    return titles.make(where.function, where.line);
}

// A registered site has the largest duration that fits into a tag as its limit.
static_assert(site::registered_limit == trace::tag_value_limit);

void describe(const site& where, known_site& entry) noexcept {
    entry.body.label = intern(label_to_register(where), &entry.label);
    entry.body.function = intern(where.function, &entry.function);
    entry.body.file = intern(where.file, &entry.file);
    entry.line = entry.body.line = where.line;
    entry.body.category = intern(where.category, nullptr);
    entry.body.arguments = intern(where.arguments, nullptr);
    entry.body.kind = static_cast<std::uint8_t>(where.kind);
    entry.body.level = where.level;
    entry.body.column = where.column;
}

void register_locked(site& where, const coroutine_facts& facts = {}) noexcept {
    if (is_registered(where)) return;
    void* const place = take_lasting(sizeof(known_site));
    if (place == nullptr) return;
    auto* entry = ::new (place) known_site{};
    entry->next = known_sites;
    entry->id = ++last_site;
    describe(where, *entry);
    entry->body.frame_bytes = facts.frame_bytes;
    entry->spawn = {entry->id, 0, facts.inside, facts.caller};
    entry->calls = facts.calls;
    // pairs with label_of(); without memory for the whole name the short one stays
    if (where.kind == site_kind::function && *entry->label != '\0')
        __atomic_store_n(&where.label, entry->label, __ATOMIC_RELEASE);
    // Pairs with find_site(), and with a debugger that stops the process here.
    if (entry->id < directory_slots) directory[entry->id].store(entry, std::memory_order_release);
    __atomic_store_n(&known_sites, entry, __ATOMIC_RELEASE);
    entry->origin = &where;
    for_each_store([entry](chunk_store& store) { define(store, *entry); });
    publish(where, entry->id);
}

// A slot of the table of sites by address. Lookups are lock-free. The table uses open addressing;
// entries are never moved or removed.
struct interned {
    std::atomic<const void*> key{nullptr};
    std::atomic<site*> value{nullptr};
};
constexpr std::size_t interned_slots = 16384;
constexpr std::size_t most_interned = interned_slots / 8 * 7;  // keeps unsuccessful lookups short
constinit interned interned_table[interned_slots];
constinit std::atomic<std::size_t> interned_count{0};
constinit fault_record without_room{"coroscope: the table of places of awaits, coroutines and "
                                    "operations is full; further ones have "
                                    "no name in traces"};

// Returns whether the table has room. Must be called before anything is allocated for a new entry,
// because that memory is never freed.
bool has_interned_room() noexcept {
    if (interned_count.load(std::memory_order_relaxed) < most_interned) return true;
    without_room.note();
    count_place_without_room();
    return false;
}

std::size_t slot_of(const void* key, std::size_t probe) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(key);
    return ((bits >> 3) * 0x9e3779b97f4a7c15U >> 40) + probe;
}

site* find_interned(const void* key) noexcept {
    for (std::size_t probe = 0; probe < interned_slots; ++probe) {
        interned& entry = interned_table[slot_of(key, probe) % interned_slots];
        // pairs with put_interned()
        const void* present = entry.key.load(std::memory_order_acquire);
        if (present == key) return entry.value.load(std::memory_order_acquire);
        if (present == nullptr) return nullptr;
    }
    return nullptr;
}

// Stores the site of a place, or replaces it. The caller must hold the lock, and there must be
// room.
site* put_interned(const void* key, site* value, const coroutine_facts& facts = {}) noexcept {
    for (std::size_t probe = 0; value != nullptr && probe < interned_slots; ++probe) {
        interned& entry = interned_table[slot_of(key, probe) % interned_slots];
        const void* present = entry.key.load(std::memory_order_relaxed);
        if (present != nullptr && present != key) continue;
        register_locked(*value, facts);
        entry.value.store(value, std::memory_order_release);
        entry.key.store(key, std::memory_order_release);  // pairs with find_interned()
        interned_count.fetch_add(1, std::memory_order_relaxed);
        return value;
    }
    return nullptr;
}

// Returns whether `kept` is the stored copy of `text`. Stored texts are cut at the largest length.
bool is_text(const char* kept, const char* text) noexcept {
    return std::strncmp(kept, text, trace::payload_limit) == 0;
}

// Returns whether the site still belongs to this place in the source: its library may have been
// unloaded, and another one loaded at that address. Compares with the site's copies of its texts,
// because the originals may be gone.
bool is_at(const site& found, const std::source_location& where) noexcept {
    const known_site* known = find_site(trace::tag_id(found.tag));
    return known == nullptr ||
           (known->line == where.line() && is_text(known->function, where.function_name()) &&
            is_text(known->file, where.file_name()));
}

site* find_interned_at(const void* key, const std::source_location& where) noexcept {
    site* found = find_interned(key);
    return found != nullptr && is_at(*found, where) ? found : nullptr;
}

const char* copy_text(std::string_view first, std::string_view second,
                      std::string_view third = {}) noexcept {
    auto* text = static_cast<char*>(take_lasting(first.size() + second.size() + third.size() + 1));
    if (text == nullptr) return "";
    char* end = text;
    for (const std::string_view part : {first, second, third})
        end = std::copy(part.begin(), part.end(), end);
    *end = '\0';
    return text;
}

template <class... Arguments>
site* make_site(const Arguments&... arguments) noexcept {
    void* place = take_lasting(sizeof(site));
    return place == nullptr ? nullptr : ::new (place) site(arguments...);
}

}  // namespace

quiet_mutex& sites_mutex() noexcept { return mutex; }

namespace {

constinit fork_guest sites_around_forks = guest_with<mutex>(fork_rank::sites);
[[gnu::constructor(101)]] void join_sites() noexcept { join_forks(sites_around_forks); }

// For the lifetime of an addition to the tables: holds the lock, and keeps the program's errno.
struct addition {
    const kept_errno programs;
    const std::lock_guard<quiet_mutex> lock{mutex};
};

}  // namespace

const known_site* find_site(std::uint32_t id) noexcept {
    if (id < directory_slots) return directory[id].load(std::memory_order_acquire);
    const known_site* at =
        __atomic_load_n(&known_sites, __ATOMIC_ACQUIRE);  // pairs with its registration
    while (at != nullptr && at->id != id) at = at->next;
    return at;
}

bool register_site(site& where) noexcept {
    const addition under_way;
    register_locked(where);
    return is_registered(where);
}

const char* label_of(site& where) noexcept {
    if (where.kind == site_kind::function && !is_registered(where)) register_site(where);
    return __atomic_load_n(&where.label, __ATOMIC_ACQUIRE);  // pairs with its registration
}

namespace {

// Returns the site with that key at that place. If there is none, adds the result of `make`.
// Returns null if the table is full.
template <class Make>
site* find_or_add(const void* key, const std::source_location& where, const coroutine_facts& facts,
                  const Make& make) noexcept {
    if (site* found = find_interned_at(key, where)) return found;
    if (!has_interned_room()) return nullptr;
    const addition under_way;
    if (site* found = find_interned_at(key, where)) return found;
    if (!has_interned_room()) return nullptr;
    return put_interned(key, make(), facts);
}

}  // namespace

site* intern_location(const void* location, site_kind kind, std::uint32_t frame_bytes) noexcept {
    const std::source_location where = detail::location_at(location);
    return find_or_add(interned_key(location, kind), where, {frame_bytes}, [&] {
        const std::string_view name = titles.make(where.function_name(), 0);
        const std::string_view before = kind == site_kind::await ? "co_await in " : "";
        return make_site(copy_text(before, name), where, kind);
    });
}

site* intern_spawn(const void* location, const coroutine_facts& facts) noexcept {
    site* const coroutine = intern_location(location, site_kind::coroutine, facts.frame_bytes);
    if (coroutine == nullptr || facts.inside == 0) return coroutine;
    const void* const key = mixed_key(word(location), facts.inside, facts.caller);
    const std::source_location where = detail::location_at(location);
    if (site* found = find_interned_at(key, where)) return found;
    if (interned_count.load(std::memory_order_relaxed) >= interned_slots / 2) return coroutine;
    site* const made = find_or_add(key, where, facts, [&] {
        return make_site(coroutine->label, where, site_kind::coroutine);
    });
    return made == nullptr ? coroutine : made;
}

site* intern_coroutine(const void* inside, const void* place) noexcept {
    if (inside == place) return intern_location(place, site_kind::coroutine);
    const std::source_location where = detail::location_at(place);
    return find_or_add(mixed_key(word(inside), word(place), 0), where, {}, [&] {
        const std::string_view name = titles.make(detail::location_at(inside).function_name(), 0);
        return make_site(copy_text(name, ""), where, site_kind::coroutine);
    });
}

site* intern_operation(const char* type, const char* operation, const void* location,
                       const call_step* calls) noexcept {
    const std::source_location where =
        location == nullptr ? std::source_location() : detail::location_at(location);
    const void* key = mixed_key(word(location), word(type), word(operation));
    if (interned_count.load(std::memory_order_relaxed) >= interned_slots / 2) calls = nullptr;
    if (calls != nullptr) key = mixed_key(word(key), word(calls), 0);
    return find_or_add(key, where, {.calls = calls}, [&] {
        const char* label = copy_text(type, *type == '\0' ? "" : ".", operation);
        return make_site(label, where, site_kind::operation);
    });
}

namespace {

// Returns null, and counts that, if memory or room is short. The caller must hold the lock.
const string_entry* intern_label(std::string_view name) noexcept {
    const bool room = interned_count.load(std::memory_order_relaxed) < most_interned;
    const string_entry* label = room ? intern(name) : find_text(name);
    if (label != nullptr || room) return label;
    without_room.note();
    count_place_without_room();
    return nullptr;
}

site* intern_text(std::string_view name, site_kind kind, const char* category) noexcept {
    if (name.empty()) return nullptr;
    const addition under_way;
    const string_entry* label = intern_label(name.substr(0, trace::payload_limit));
    if (label == nullptr) return nullptr;
    const void* const key = mixed_key(word(label), word(category), 0);
    site* const found = find_interned(key);
    if (found != nullptr && found->label == label->text && found->kind == kind) return found;
    if (!has_interned_room()) return nullptr;
    return put_interned(key, make_site(label->text, std::source_location(), kind, category));
}

}  // namespace

site* intern_name(std::string_view name) noexcept {
    return intern_text(name, site_kind::operation, "");
}

site* intern_resource(std::string_view name, const char* category) noexcept {
    return intern_text(name, site_kind::resource, category);
}

void define_all_sites(chunk_store& store) noexcept {
    const std::lock_guard lock(mutex);
    describe_categories(store.header());
    for (string_entry* bucket : string_table) {
        for (const string_entry* entry = bucket; entry != nullptr; entry = entry->next)
            define(store, *entry);
    }
    for (const known_site* entry = known_sites; entry != nullptr; entry = entry->next)
        define(store, *entry);
}

}  // namespace coroscope::runtime::inline writer
