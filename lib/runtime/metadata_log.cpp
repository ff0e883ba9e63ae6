// SPDX-License-Identifier: Apache-2.0
#include "metadata_log.hpp"

#include <cstring>

#include "clock.hpp"

namespace coroscope::runtime {
namespace {

// Below this many chunks a second one set aside would cost too much of the trace.
constexpr std::uint32_t chunks_worth_two_spares = 16;

}  // namespace

metadata_log::metadata_log(chunk_pool& pool) noexcept
    : pool_(pool), spares_wanted_(pool.capacity() < chunks_worth_two_spares ? 1 : most_spares) {}

std::byte* metadata_log::append(std::uint64_t first, std::uint64_t tag, const void* payload,
                                std::size_t bytes) noexcept {
    const std::size_t whole = trace::record_unit_bytes + trace::padded_payload(bytes);
    if (trace::record_bytes(tag) != whole) return nullptr;
    const std::lock_guard guard(lock_);
    std::byte* const at = room(whole, current_ticks());
    if (at == nullptr) return nullptr;
    std::memcpy(at, &first, sizeof(first));
    if (bytes != 0) std::memcpy(at + trace::record_unit_bytes, payload, bytes);
    publish_word(at + sizeof(first), tag);  // pairs with who measures the chunk
    cursor_ = at + whole;
    return at + trace::record_unit_bytes;
}

std::byte* metadata_log::room(std::size_t bytes, std::uint64_t ticks) noexcept {
    const std::size_t capacity = pool_.chunk_bytes() - trace::chunk_header_bytes;
    if (bytes > capacity) return nullptr;
    if (bytes <= static_cast<std::size_t>(end_ - cursor_)) return cursor_;
    const std::uint32_t index = spares_ != 0 ? spare_[--spares_] : pool_.take();
    if (index == chunk_pool::none) return nullptr;
    chunk_pool::opening what;
    what.kind = trace::chunk_kind::metadata;
    what.ticks = ticks;
    cursor_ = reinterpret_cast<std::byte*>(pool_.open(index, what)) + trace::chunk_header_bytes;
    end_ = cursor_ + capacity;
    return cursor_;
}

void metadata_log::keep_spares() noexcept {
    const std::lock_guard guard(lock_);
    while (spares_ < spares_wanted_) {
        const std::uint32_t index = pool_.take();
        if (index == chunk_pool::none) return;
        spare_[spares_++] = index;
    }
}

}  // namespace coroscope::runtime
