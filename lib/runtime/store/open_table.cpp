// SPDX-License-Identifier: Apache-2.0
#include "open_table.hpp"

#include <mutex>

#include "../base/clock.hpp"

namespace coroscope::runtime::inline store {
namespace {

// A trace with fewer chunks has no table, because it needs them for records.
constexpr std::uint32_t chunks_worth_a_table = 16;

// At most 1 / table_share of the chunks belong to the table: it is never overwritten, and records
// need the other chunks.
constexpr std::uint32_t table_share = 4;

}  // namespace

bool open_table::may_grow() const noexcept {
    return chunks_.load(std::memory_order_relaxed) < pool_.capacity() / table_share;
}

trace::open_scope* open_table::place(std::uint32_t number, bool full) noexcept {
    const std::size_t per_chunk =
        (pool_.chunk_bytes() - trace::chunk_header_bytes) / sizeof(trace::open_scope);
    const std::size_t which = number / per_chunk;
    if (which >= most_chunks || pool_.capacity() < chunks_worth_a_table) return nullptr;
    std::byte* first = places_[which].load(std::memory_order_acquire);  // pairs with make_chunk()
    if (first == nullptr && !full && may_grow()) first = make_chunk(which);
    if (first == nullptr) return nullptr;
    return reinterpret_cast<trace::open_scope*>(first) + number % per_chunk;
}

std::byte* open_table::make_chunk(std::size_t which) noexcept {
    const std::lock_guard guard(lock_);
    if (std::byte* made = places_[which].load(std::memory_order_relaxed)) return made;
    if (!may_grow()) return nullptr;
    const std::uint32_t index = growth_.take();
    if (index == chunk_pool::none) return nullptr;
    chunk_pool::opening what;
    what.kind = trace::chunk_kind::open;
    what.ticks = counter_may_be_read() ? current_ticks() : 0;
    auto* first = reinterpret_cast<std::byte*>(pool_.open(index, what)) + trace::chunk_header_bytes;
    places_[which].store(first, std::memory_order_release);  // pairs with place()
    chunks_.fetch_add(1, std::memory_order_relaxed);
    return first;
}

}  // namespace coroscope::runtime::inline store
