// SPDX-License-Identifier: Apache-2.0
#include "open_scopes.hpp"

#include <mutex>

#include "../store/chunk.hpp"
#include "../writer/recorder.hpp"
#include "../writer/refill.hpp"
#include "../writer/registry.hpp"
#include "scope_places.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

// Gives the entry a place in the trace of that session. Returns false if the session no longer
// takes records or has no place left.
bool find_entry_place(open_entry& entry, thread_record& record, std::uint32_t generation) noexcept {
    if (entry.generation == generation && entry.place != nullptr) return true;
    const store_use use(record, generation);
    if (use.owner() == nullptr) return false;
    entry.place = use.owner()->store->open_scope_place(entry.number);
    entry.generation = generation;
    return entry.place != nullptr;
}

void count_unnamed(thread_record& record, std::uint32_t generation) noexcept {
    const store_use use(record, generation);
    if (use.owner() != nullptr) use.owner()->store->count_unnamed_scope();
}

// Binds the thread to the session, so that the trace describes the thread to which the place
// refers.
void bind_to(std::uint32_t generation, const thread_record& record) noexcept {
    const binding* bound = record.current;
    if (bound == nullptr || bound->generation.load(std::memory_order_relaxed) != generation)
        refill(this_thread, 0);
}

open_entry* take_entry(thread_record& record) noexcept {
    if (record.open_scopes == nullptr) record.open_scopes = find_open_pool();
    if (record.open_scopes == nullptr) return nullptr;
    open_pool& pool = *record.open_scopes;
    const void* const here = __builtin_frame_address(0);
    if (pool.changing != nullptr && was_left(record, pool.changing, here)) pool.changing = nullptr;
    open_entry* taken = pool.changing == nullptr ? pool.take() : pool.take_returned();
    return taken != nullptr ? taken : grow(pool);
}

bool is_bound(const thread_record& record, std::uint32_t generation) noexcept {
    for (const binding& each : record.bindings)
        if (each.generation.load(std::memory_order_relaxed) == generation) return true;
    return false;
}

}  // namespace

void hide_elsewhere(const open_entry& entry) noexcept {
    thread_record* record = register_thread(this_thread);
    if (record != nullptr) {
        if (is_bound(*record, entry.generation)) return hide(*entry.place);
        const store_use use(*record, entry.generation);
        if (use.owner() != nullptr) hide(*entry.place);
        return;
    }
    // The session's memory is not released while the lock is held.
    const std::lock_guard lock(registry_mutex());
    if (find_session(entry.generation) != nullptr) hide(*entry.place);
}

std::uint64_t open_tag_in_frame(const site& where, const void* address) noexcept {
    const std::uint64_t flags = flags_while_open(address);
    return __atomic_load_n(&where.tag, __ATOMIC_RELAXED) | flags << trace::tag_value_shift;
}

open_entry* prepare_open(site& where) noexcept {
    const std::uint32_t generation = effective_generation(this_thread);
    if (!wants(trace::feature_open_scopes) || site_id(where) == 0) return nullptr;
    thread_record& record = *this_thread.record;
    bind_to(generation, record);
    open_entry* entry = is_bound(record, generation) ? take_entry(record) : nullptr;
    if (entry == nullptr) {
        count_unnamed(record, generation);
        return nullptr;
    }
    if (find_entry_place(*entry, record, generation)) return entry;
    give(*entry);
    return nullptr;
}

void keep_open(open_entry& entry, scope_start& start, const site& where,
               const void* address) noexcept {
    if (start.ticks == 0) return give(entry);
    open(entry, start, open_tag(where, address), start.mark, start.ticks);
}

}  // namespace coroscope::detail

namespace coroscope::runtime::inline scopes {

void leave_open_pool(thread_record& record) noexcept {
    if (record.open_scopes == nullptr) return;
    const std::lock_guard lock(registry_mutex());
    make_idle(*record.open_scopes);
    record.open_scopes = nullptr;
}

void reset_open_pool(thread_record& record) noexcept {
    if (record.open_scopes != nullptr) record.open_scopes->changing = nullptr;
}

namespace {

// A copy of an entry's fields at one moment.
struct seen_entry {
    std::uint64_t ticks = 0;
    std::uint64_t tag = 0;
    std::uint32_t order = 0;
};

bool is_later(const seen_entry& one, const seen_entry& other) noexcept {
    return one.ticks != other.ticks ? one.ticks > other.ticks : one.order > other.order;
}

bool is_here(std::uint64_t mark, std::uint64_t tag) noexcept {
    const std::uint64_t task = task_of(this_thread.mark);
    const bool in_frame = (trace::tag_value(tag) & trace::scope_in_frame) != 0;
    return in_frame ? task != 0 && trace::mark_task(mark) == task
                    : trace::mark_thread(mark) == trace::mark_thread(this_thread.mark);
}

// Returns the last of this thread's open scopes that began before `limit`. Its ticks are 0 if there
// is none.
seen_entry latest_before(const seen_entry& limit) noexcept {
    seen_entry latest;
    for (const open_pool* pool = first_open_pool(); pool != nullptr; pool = pool->next)
        for (const open_block* block = pool->blocks.load(std::memory_order_acquire);
             block != nullptr; block = block->next)
            for (const open_entry& each : block->entries) {
                const seen_entry seen{each.ticks.load(std::memory_order_relaxed),
                                      each.tag.load(std::memory_order_relaxed),
                                      each.order.load(std::memory_order_relaxed)};
                if (seen.ticks != 0 &&
                    is_here(each.mark.load(std::memory_order_relaxed), seen.tag) &&
                    is_later(limit, seen) && is_later(seen, latest))
                    latest = seen;
            }
    return latest;
}

}  // namespace

void write_open_scopes(text_writer& to) noexcept {
    constexpr int most = 8;
    seen_entry last{~std::uint64_t{0}, 0, 0};
    for (int at = 0;; ++at) {
        last = latest_before(last);
        if (last.ticks == 0) return;
        if (at == 0) to.text("open scopes there, innermost first:\n");
        if (at == most) {
            to.text("  and more\n");
            return;
        }
        const known_site* where = find_site(trace::tag_id(last.tag));
        if (where == nullptr) continue;
        to.text("  ").text(where->label).text(" (").text(where->file).text(":");
        to.natural(where->line).text(")\n");
    }
}

}  // namespace coroscope::runtime::inline scopes
