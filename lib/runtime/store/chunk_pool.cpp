// SPDX-License-Identifier: Apache-2.0
#include "chunk_pool.hpp"

#include <algorithm>
#include <utility>

namespace coroscope::runtime::inline store {

using trace::chunk_header;
using trace::chunk_state;

namespace {

// Enough for a usual reserve; the helper may allocate when a reserve grows beyond it.
constexpr std::uint32_t free_queue_room = 2048;
// The queue keeps its entries in blocks of 32, of which the first and the last may be used in part.
constexpr std::uint32_t free_queue_margin = 64;

// The positions of words in a next_thread record.
constexpr std::size_t current_task_word = 2;
constexpr std::size_t body_offset_word = 3;

// At most one chunk in so many may wait with a rest, because a waiting chunk is not sealed, and is
// overwritten only after the others.
constexpr std::uint32_t rest_share = 8;

// Prefetches one cache line of each page, which also loads the page's address translation. The
// recording thread then has no TLB misses (for a 32 KiB chunk of a file's mapping: 1.035 instead of
// 1.06 times the clock's cost).
void prefetch_pages(const chunk_header* chunk, std::uint32_t chunk_bytes) noexcept {
    constexpr std::uint32_t page = 4096;
    const auto* bytes = reinterpret_cast<const char*>(chunk);
    for (std::uint32_t at = page; at < chunk_bytes; at += page) __builtin_prefetch(bytes + at, 1);
}

}  // namespace

chunk_pool::chunk_pool(std::byte* base, std::uint32_t chunk_bytes, std::uint32_t capacity,
                       bool overwrite) noexcept
    : base_(base),
      chunk_bytes_(chunk_bytes),
      capacity_(capacity),
      overwrite_(overwrite),
      free_(std::min(capacity, free_queue_room) + free_queue_margin) {
    usable_ = free_.usable() && handed_over_.create(capacity) && rests_.create(capacity);
}

chunk_header* chunk_pool::chunk(std::uint32_t index) const noexcept {
    return reinterpret_cast<chunk_header*>(base_ + trace::file_header_bytes +
                                           std::uint64_t{index} * chunk_bytes_);
}

std::uint32_t chunk_pool::publish(std::uint32_t count, bool may_allocate) noexcept {
    std::uint32_t made = 0;
    for (std::uint32_t index = published(); made < count; ++index, ++made) {
        handed_over_.touch(index);
        publish_word(chunk(index), free_chunk_word);  // pairs with open()
        if (!(may_allocate ? free_.put(index) : free_.put_if_room(index))) break;
        published_.store(index + 1, std::memory_order_relaxed);
    }
    return made;
}

std::uint32_t chunk_pool::take_free() noexcept {
    std::uint32_t index = none;
    return free_.take(index) ? index : none;
}

std::uint32_t chunk_pool::take() noexcept {
    std::uint32_t index = take_free();
    if (index != none || !overwrite_) return index;
    index = handed_over_.pop();
    return empty_oldest(index != none ? index : take_rest());
}

std::uint32_t chunk_pool::empty_oldest(std::uint32_t index) noexcept {
    if (index == none) return none;
    chunk_header& oldest = *chunk(index);
    count_overwritten(oldest);
    empty(oldest, chunk_bytes_);
    return index;
}

// Release: pairs with is_recycling(). A thread whose pop() came after this one sees the flag, and
// one that sees the flag cleared finds the chunk among the free ones.
bool chunk_pool::recycle() noexcept {
    recycling_.store(true, std::memory_order_release);
    const std::uint32_t index = empty_oldest(handed_over_.pop());
    const bool freed = index != none && free_.put(index);
    recycling_.store(false, std::memory_order_release);
    return freed;
}

// Counts the overwritten records for each thread that wrote to the chunk.
void chunk_pool::count_overwritten(const chunk_header& chunk) noexcept {
    // Takes the chunk over: pairs with hand_over() and set_aside().
    if (kind_of(load_word(&chunk)) == trace::chunk_kind::kernel) return;  // it belongs to no thread
    std::uint64_t body_offset = chunk.thread_body_offset;
    std::uint64_t records = 0;
    walk_records(records_of(chunk), chunk_bytes_ - trace::chunk_header_bytes,
                 [&](const char* record, std::uint64_t tag) noexcept {
                     if (trace::tag_kind(tag) != trace::record_kind::next_thread) {
                         ++records;
                         return;
                     }
                     count_overwritten(body_offset, std::exchange(records, 0));
                     body_offset = load_counter(record + body_offset_word * sizeof(std::uint64_t));
                 });
    count_overwritten(body_offset, records);
}

void chunk_pool::count_overwritten(std::uint64_t body_offset, std::uint64_t records) noexcept {
    overwritten_.fetch_add(records, std::memory_order_relaxed);
    auto* body = reinterpret_cast<trace::thread_body*>(base_ + body_offset);
    add_to_counter(body_offset != 0 ? &body->overwritten : &header().lost_records, records);
}

// Returns whether every place of the section is written, and enough room is left after it for
// another section.
bool chunk_pool::has_rest(const chunk_header* chunk, const char* section,
                          const char* cursor) const noexcept {
    const char* const end = reinterpret_cast<const char*>(chunk) + chunk_bytes_;
    if (cursor > end || end - cursor < least_rest_bytes) return false;
    const auto written = static_cast<std::size_t>(cursor - section);
    return walk_records(section, written, [](const char*, std::uint64_t) noexcept {}) == cursor;
}

bool chunk_pool::set_aside(chunk_header* chunk, const char* section, const char* cursor) noexcept {
    if (!has_rest(chunk, section, cursor)) return false;
    if (rest_count_.fetch_add(1, std::memory_order_relaxed) >= capacity_ / rest_share) {
        rest_count_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    chunk->used_bytes = static_cast<std::uint32_t>(cursor - records_of(*chunk));
    publish_word(chunk, load_word(chunk));  // pairs with begin_section() and count_overwritten()
    rests_.push(index_of(chunk));
    return true;
}

std::uint32_t chunk_pool::take_rest() noexcept {
    const std::uint32_t index = rests_.pop();
    if (index != none) rest_count_.fetch_sub(1, std::memory_order_relaxed);
    return index;
}

char* chunk_pool::begin_section(std::uint32_t index, const opening& what) noexcept {
    chunk_header& at = *chunk(index);
    load_word(&at);  // takes the chunk over: pairs with set_aside()
    return write_opening(records_of(at) + at.used_bytes, what);
}

char* chunk_pool::begin_anew(chunk_header* chunk, const char* section, char* cursor,
                             const opening& what) noexcept {
    return has_rest(chunk, section, cursor) ? write_opening(cursor, what) : nullptr;
}

char* chunk_pool::write_opening(char* at, const opening& what) const noexcept {
    auto* const words = reinterpret_cast<mapped_word*>(at);
    const std::uint64_t tag = trace::make_tag(trace::record_kind::next_thread, what.thread, 0);
    words[0] = what.ticks;
    words[current_task_word] = what.current_task;
    words[body_offset_word] = offset_of(what.body);
    publish_word(words + 1, tag);  // pairs with the reader that measures the chunk
    return at + trace::record_bytes(tag);
}

chunk_header* chunk_pool::open(std::uint32_t index, const opening& what) noexcept {
    chunk_header* at = chunk(index);
    load_word(at);  // takes the chunk over: pairs with publish() and empty()
    at->number = opened_.fetch_add(1, std::memory_order_relaxed) + 1;
    at->thread = what.thread;
    at->current_task = what.current_task;
    at->opened_ticks = what.ticks;
    at->thread_body_offset = offset_of(what.body);
    publish_word(
        at, chunk_word(what.kind, chunk_state::open));  // pairs with the reader that measures it
    prefetch_pages(at, chunk_bytes_);
    return at;
}

void chunk_pool::hand_over(chunk_header* chunk, std::uint32_t taken) noexcept {
    chunk->used_bytes = taken;
    const trace::chunk_kind kind = kind_of(load_word(chunk));
    publish_word(chunk,
                 chunk_word(kind, chunk_state::handed_over));  // pairs with seal() and empty()
    handed_over_.push(index_of(chunk));
}

std::uint32_t chunk_pool::index_of(const chunk_header* chunk) const noexcept {
    const auto offset =
        static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(chunk) - base_);
    return static_cast<std::uint32_t>((offset - trace::file_header_bytes) / chunk_bytes_);
}

std::uint64_t chunk_pool::offset_of(const trace::thread_body* body) const noexcept {
    const auto* at = reinterpret_cast<const std::byte*>(body);
    return at == nullptr ? 0 : static_cast<std::uint64_t>(at - base_);
}

}  // namespace coroscope::runtime::inline store
