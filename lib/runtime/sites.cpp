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

#include "fault_record.hpp"
#include "kept_errno.hpp"
#include "lasting_memory.hpp"
#include "registry.hpp"

namespace coroscope::runtime {

constinit const known_site* known_sites = nullptr;

namespace {

constexpr std::uint32_t no_id = 0;

// Strings by id, as stable copies like the sites: a library that brought them may be unloaded later.
struct string_entry {
    string_entry* next;
    std::uint32_t id;
    std::uint32_t size;
    char text[1];  // and a NUL behind it
};
constexpr const char* no_text = "";

constinit quiet_mutex mutex;
constinit std::uint32_t last_string = no_id;
constinit std::uint32_t last_site = no_id;

constexpr std::size_t string_buckets = 1024;
constinit string_entry* string_table[string_buckets] = {};

// Sites by id, for whoever looks them up without a lock. What lies beyond is found in the list only.
constexpr std::size_t directory_slots = 65536;
constinit std::atomic<const known_site*> directory[directory_slots];

// The stores of sessions that record, for definitions that arrive meanwhile.
template <class Write>
void for_each_store(const Write& write) noexcept {
    session* table = session_table();
    for (int slot = 0; slot < session_slots; ++slot) {
        session& each = table[slot];
        if (each.takes_definitions.load(std::memory_order_acquire)) write(*each.store);
    }
}

void define(chunk_store& store, const string_entry& entry) noexcept {
    store.append_metadata(0, trace::make_tag(trace::record_kind::string, entry.id, entry.size),
                          entry.text, entry.size);
}
void define(chunk_store& store, const known_site& entry) noexcept {
    store.append_metadata(0, trace::make_tag(trace::record_kind::site, entry.id, 0), &entry.body,
                          sizeof entry.body);
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

// A text that the site brings: its id, and where its copy stands.
std::uint32_t intern(const char* text, const char** copy) noexcept {
    const string_entry* entry = intern(text);
    if (copy != nullptr) *copy = entry == nullptr ? no_text : entry->text;
    return entry == nullptr ? no_id : entry->id;
}

void describe(const site& where, known_site& entry) noexcept {
    entry.body.label = intern(where.label, &entry.label);
    entry.body.function = intern(where.function, &entry.function);
    entry.body.file = intern(where.file, &entry.file);
    entry.line = entry.body.line = where.line;
    entry.body.category = intern(where.category, nullptr);
    entry.body.arguments = intern(where.arguments, nullptr);
    entry.body.kind = static_cast<std::uint8_t>(where.kind);
    entry.body.level = where.level;
}

// The name in a signature: "app::handle" from "task<reply> app::handle(request) [with …]".
std::string_view function_name(std::string_view signature) noexcept {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < signature.size(); ++at) {
        const char c = signature[at];
        if (c == '<' || c == '[') ++depth;
        if (c == '>' || c == ']') --depth;
        if (depth == 0 && c == ' ') begin = at + 1;
        if (depth == 0 && c == '(') {
            if (signature.substr(at).starts_with("(anonymous namespace)")) {
                at += std::string_view("(anonymous namespace)").size() - 1;
                continue;
            }
            return signature.substr(begin, at - begin);
        }
    }
    return signature;
}

void register_locked(site& where) noexcept {
    if (is_registered(where)) return;
    void* const place = take_lasting(sizeof(known_site));
    if (place == nullptr) return;
    auto* entry = ::new (place) known_site{};
    entry->next = known_sites;
    entry->id = ++last_site;
    describe(where, *entry);
    // Pairs with find_site(), and with a debugger that stops the process here.
    if (entry->id < directory_slots) directory[entry->id].store(entry, std::memory_order_release);
    __atomic_store_n(&known_sites, entry, __ATOMIC_RELEASE);
    for_each_store([entry](chunk_store& store) { define(store, *entry); });
    __atomic_store_n(&where.tag, trace::make_tag(trace::record_kind::scope, entry->id, 0),
                     __ATOMIC_RELAXED);
    // pairs with is_registered()
    __atomic_store_n(&where.duration_limit, site::registered_limit, __ATOMIC_RELEASE);
}

// Sites by an address, lock-free to look up: open addressing, entries never move or go.
struct interned {
    std::atomic<const void*> key{nullptr};
    std::atomic<site*> value{nullptr};
};
constexpr std::size_t interned_slots = 16384;
constexpr std::size_t most_interned =
    interned_slots / 8 * 7;  // what is not there is soon known not to be
constinit interned interned_table[interned_slots];
constinit std::atomic<std::size_t> interned_count{0};
constinit fault_record without_room{"coroscope: the table of places of awaits, coroutines and "
                                    "operations is full; further ones have "
                                    "no name in traces"};

// Before anything is made for a place that is not there: nothing of that is ever freed.
bool has_interned_room() noexcept {
    if (interned_count.load(std::memory_order_relaxed) < most_interned) return true;
    without_room.note();
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

// Under the lock, where there is room: gives the place its site, perhaps instead of another.
site* put_interned(const void* key, site* value) noexcept {
    for (std::size_t probe = 0; value != nullptr && probe < interned_slots; ++probe) {
        interned& entry = interned_table[slot_of(key, probe) % interned_slots];
        const void* present = entry.key.load(std::memory_order_relaxed);
        if (present != nullptr && present != key) continue;
        register_locked(*value);
        entry.value.store(value, std::memory_order_release);
        entry.key.store(key, std::memory_order_release);  // pairs with find_interned()
        interned_count.fetch_add(1, std::memory_order_relaxed);
        return value;
    }
    return nullptr;
}

// One location may be an await site and a spawn site: the kind goes into the key's free low bits.
const void* interned_key(const void* address, site_kind kind) noexcept {
    return static_cast<const char*>(address) + static_cast<int>(kind);
}

// Is that what the site was made of? Texts are cut at that length.
bool is_text(const char* kept, const char* text) noexcept {
    return std::strncmp(kept, text, trace::payload_limit) == 0;
}

// Is it still the site of this place in the source? A library may have been unloaded, and another one loaded there. What
// is asked for stands in memory; of what the site was made from only the copies do.
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

// What adds to the tables: it may ask for memory.
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

site* intern_location(const void* location, site_kind kind) noexcept {
    const void* key = interned_key(location, kind);
    const std::source_location where = detail::location_at(location);
    if (site* found = find_interned_at(key, where)) return found;
    if (!has_interned_room()) return nullptr;
    const addition under_way;
    if (site* found = find_interned_at(key, where)) return found;
    if (!has_interned_room()) return nullptr;
    const std::string_view name = function_name(where.function_name());
    const char* label =
        kind == site_kind::await ? copy_text("co_await in ", name) : copy_text(name, "");
    return put_interned(key, make_site(label, where, kind));
}

site* intern_operation(const char* type, const char* operation, const void* location) noexcept {
    constexpr std::uintptr_t spread = 0x9e3779b97f4a7c15U;
    const auto mixed = reinterpret_cast<std::uintptr_t>(operation) ^
                       (reinterpret_cast<std::uintptr_t>(type) ^
                        reinterpret_cast<std::uintptr_t>(location) * spread) *
                           spread;
    const void* key = reinterpret_cast<const void*>(mixed | 1);
    const std::source_location where =
        location == nullptr ? std::source_location() : detail::location_at(location);
    if (site* found = find_interned_at(key, where)) return found;
    if (!has_interned_room()) return nullptr;
    const addition under_way;
    if (site* found = find_interned_at(key, where)) return found;
    if (!has_interned_room()) return nullptr;
    const char* label = copy_text(type, *type == '\0' ? "" : ".", operation);
    return put_interned(key, make_site(label, where, site_kind::operation));
}

site* intern_name(std::string_view name) noexcept {
    if (name.empty()) return nullptr;
    const addition under_way;
    name = name.substr(0, trace::payload_limit);
    const bool room = interned_count.load(std::memory_order_relaxed) < most_interned;
    const string_entry* label = room ? intern(name) : find_text(name);
    if (label == nullptr) {
        if (!room) without_room.note();
        return nullptr;
    }
    const void* key = interned_key(label, site_kind::operation);
    if (site* found = find_interned(key)) return found;
    if (!has_interned_room()) return nullptr;
    return put_interned(key, make_site(label->text, std::source_location(), site_kind::operation));
}

void define_all_sites(chunk_store& store) noexcept {
    const std::lock_guard lock(mutex);
    for (string_entry* bucket : string_table) {
        for (const string_entry* entry = bucket; entry != nullptr; entry = entry->next)
            define(store, *entry);
    }
    for (const known_site* entry = known_sites; entry != nullptr; entry = entry->next)
        define(store, *entry);
}

}  // namespace coroscope::runtime
