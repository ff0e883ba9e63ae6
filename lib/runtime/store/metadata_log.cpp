// SPDX-License-Identifier: Apache-2.0
#include "metadata_log.hpp"

#include <algorithm>
#include <cstring>

#include "../base/clock.hpp"

namespace coroscope::runtime::inline store {
namespace {

// A store with fewer chunks keeps no spare chunk for metadata, because one chunk would be too large
// a part of it.
constexpr std::uint32_t chunks_worth_a_spare = 16;

}  // namespace

metadata_log::metadata_log(chunk_pool& pool, store_growth& growth) noexcept
    : pool_(pool), growth_(growth), wants_spare_(pool.capacity() >= chunks_worth_a_spare) {}

std::byte* metadata_log::append(std::uint64_t first, std::uint64_t tag, const void* payload,
                                std::size_t bytes) noexcept {
    const std::size_t whole = whole_bytes(bytes);
    if (trace::record_bytes(tag) != whole) return nullptr;
    const std::lock_guard guard(lock_);
    std::byte* const at = room(whole);
    if (at == nullptr) {
        refused_bytes_.store(std::min(whole, refused_bytes_.load(std::memory_order_relaxed)),
                             std::memory_order_relaxed);
        return nullptr;
    }
    std::memcpy(at, &first, sizeof(first));
    if (bytes != 0) std::memcpy(at + trace::record_unit_bytes, payload, bytes);
    publish_word(at + sizeof(first), tag);  // pairs with the reader that measures the chunk
    cursor_ = at + whole;
    return at + trace::record_unit_bytes;
}

std::byte* metadata_log::room(std::size_t bytes) noexcept {
    const std::size_t capacity = pool_.chunk_bytes() - trace::chunk_header_bytes;
    if (bytes > capacity) return nullptr;
    if (bytes <= static_cast<std::size_t>(end_ - cursor_)) return cursor_;
    const std::uint32_t index = spare_ != chunk_pool::none ? spare_ : growth_.take();
    spare_ = chunk_pool::none;
    if (index == chunk_pool::none) return nullptr;
    chunk_pool::opening what;
    what.kind = trace::chunk_kind::metadata;
    what.ticks = counter_may_be_read() ? current_ticks() : 0;
    refused_bytes_.store(nothing_refused, std::memory_order_relaxed);
    cursor_ = reinterpret_cast<std::byte*>(pool_.open(index, what)) + trace::chunk_header_bytes;
    end_ = cursor_ + capacity;
    return cursor_;
}

void metadata_log::keep_spare() noexcept {
    const std::lock_guard guard(lock_);
    if (cursor_ == nullptr) room(trace::record_unit_bytes);
    if (!wants_spare_ || spare_ != chunk_pool::none) return;
    spare_ = pool_.take();
    if (spare_ != chunk_pool::none)
        refused_bytes_.store(nothing_refused, std::memory_order_relaxed);
}

}  // namespace coroscope::runtime::inline store
