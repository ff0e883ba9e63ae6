// SPDX-License-Identifier: Apache-2.0
#include "sealed_chunks.hpp"

#include <algorithm>

#include <sys/mman.h>

#include <coroscope/trace/format.hpp>

#include "../base/unlocked_memory.hpp"
#include "mapping.hpp"

namespace coroscope::runtime::inline store {
namespace {

constexpr std::uint32_t bits_per_word = 64;

// One call costs an interrupt of each processor on which the program runs, so it is made for many
// pages.
constexpr std::uint32_t batch_bytes = std::uint32_t{1} << 20;
// A chunk that is still in use when so many bytes after it are sealed belongs to an idle thread,
// or to the metadata. The sealed chunks around it do not wait for it.
constexpr std::uint32_t patience_bytes = std::uint32_t{4} << 20;

std::uint64_t bytes_for(std::uint32_t capacity) noexcept {
    return (std::uint64_t{capacity} / bits_per_word + 1) * sizeof(std::uint64_t);
}

}  // namespace

sealed_chunks::~sealed_chunks() {
    if (bits_ != nullptr) ::munmap(bits_, bytes_for(capacity_));
}

bool sealed_chunks::create(std::uint32_t capacity, std::uint32_t chunk_bytes) noexcept {
    void* at = map_unlocked(bytes_for(capacity), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (at == MAP_FAILED) return false;
    bits_ = static_cast<std::uint64_t*>(at);
    capacity_ = capacity;
    chunk_bytes_ = chunk_bytes;
    return true;
}

bool sealed_chunks::has(std::uint32_t index) const noexcept {
    return index < capacity_ && (bits_[index / bits_per_word] >> index % bits_per_word & 1) != 0;
}

void sealed_chunks::add(std::uint32_t index, const mapping& map) noexcept {
    bits_[index / bits_per_word] |= std::uint64_t{1} << index % bits_per_word;
    count_.fetch_add(1, std::memory_order_relaxed);
    if (index < passed_) unmap(index, index + 1, map);
}

void sealed_chunks::release(const mapping& map) noexcept {
    const std::uint32_t batch = std::max(batch_bytes / chunk_bytes_, 1U);
    const std::uint64_t patience = std::max(patience_bytes / chunk_bytes_, 1U);
    const std::uint64_t sealed = count();
    const std::uint64_t old = sealed - std::min(sealed, patience);
    for (;;) {
        std::uint32_t end = passed_;
        while (end - passed_ < batch && has(end)) ++end;
        if (end - passed_ == batch || (end != passed_ && end <= old)) {
            unmap(passed_, end, map);
            passed_ = end;
        } else if (end == passed_ && passed_ < old) {
            ++passed_;  // add() unmaps it
        } else {
            return;
        }
    }
}

void sealed_chunks::unmap(std::uint32_t from, std::uint32_t end,
                          const mapping& map) const noexcept {
    const std::uint64_t begin = trace::file_header_bytes + std::uint64_t{from} * chunk_bytes_;
    map.discard(map.base() + begin, std::uint64_t{end - from} * chunk_bytes_);
}

}  // namespace coroscope::runtime::inline store
