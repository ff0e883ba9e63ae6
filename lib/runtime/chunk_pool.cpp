// SPDX-License-Identifier: Apache-2.0
#include "chunk_pool.hpp"

#include <algorithm>

namespace coroscope::runtime {

using trace::chunk_header;
using trace::chunk_state;

namespace {

// Enough for a usual reserve; the helper may allocate when a reserve grows beyond it.
constexpr std::uint32_t free_queue_room = 2048;

// One line of each page, whose translation comes with it: the recording thread then meets none of
// them missing (a 32 KiB chunk of a file's mapping: 1.035 instead of 1.06 times the clock's cost).
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
      free_(std::min(capacity, free_queue_room)) {
    usable_ = free_.usable() && handed_over_.create(capacity);
}

chunk_header* chunk_pool::chunk(std::uint32_t index) const noexcept {
    return reinterpret_cast<chunk_header*>(base_ + trace::file_header_bytes +
                                           std::uint64_t{index} * chunk_bytes_);
}

void chunk_pool::publish(std::uint32_t count) noexcept {
    const std::uint32_t end = published_ + count;
    for (; published_ < end; ++published_) {
        handed_over_.touch(published_);
        publish_word(chunk(published_), free_chunk_word);  // pairs with open()
        // Without memory for it the chunk stays unused; the trace is right all the same.
        free_.put(published_);
    }
}

std::uint32_t chunk_pool::take() noexcept {
    std::uint32_t index = none;
    if (free_.take(index)) return index;
    return overwrite_ ? take_oldest() : none;
}

std::uint32_t chunk_pool::take_oldest() noexcept {
    const std::uint32_t index = handed_over_.pop();
    if (index == none) return none;
    chunk_header& oldest = *chunk(index);
    count_overwritten(oldest);
    empty(oldest, chunk_bytes_);
    return index;
}

bool chunk_pool::recycle() noexcept {
    const std::uint32_t index = take_oldest();
    return index != none && free_.put(index);
}

void chunk_pool::count_overwritten(const chunk_header& chunk) noexcept {
    const std::uint32_t records =
        measure(chunk, chunk_bytes_).records;  // acquires the chunk's word
    overwritten_.fetch_add(records, std::memory_order_relaxed);
    auto* body = reinterpret_cast<trace::thread_body*>(base_ + chunk.thread_body_offset);
    add_to_counter(chunk.thread_body_offset != 0 ? &body->overwritten : &header().lost_records,
                   records);
}

chunk_header* chunk_pool::open(std::uint32_t index, const opening& what) noexcept {
    chunk_header* at = chunk(index);
    load_word(at);  // takes the chunk over: pairs with publish() and empty()
    at->number = opened_.fetch_add(1, std::memory_order_relaxed) + 1;
    at->thread = what.thread;
    at->current_task = what.current_task;
    at->opened_ticks = what.ticks;
    const auto* body = reinterpret_cast<const std::byte*>(what.body);
    at->thread_body_offset = body == nullptr ? 0 : static_cast<std::uint64_t>(body - base_);
    publish_word(at, chunk_word(what.kind, chunk_state::open));  // pairs with who measures it
    prefetch_pages(at, chunk_bytes_);
    return at;
}

void chunk_pool::hand_over(chunk_header* chunk, std::uint32_t taken) noexcept {
    chunk->used_bytes = taken;
    const auto offset = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(chunk) - base_);
    const trace::chunk_kind kind = kind_of(load_word(chunk));
    publish_word(chunk,
                 chunk_word(kind, chunk_state::handed_over));  // pairs with seal() and empty()
    handed_over_.push(
        static_cast<std::uint32_t>((offset - trace::file_header_bytes) / chunk_bytes_));
}

}  // namespace coroscope::runtime
