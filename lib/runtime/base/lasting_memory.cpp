// SPDX-License-Identifier: Apache-2.0
#include "lasting_memory.hpp"

#include <sys/mman.h>

namespace coroscope::runtime::inline base {
namespace {

constexpr std::size_t block_bytes = 256U << 10;
constexpr std::size_t page_bytes = 4096;

constinit char* next = nullptr;
constinit std::size_t left = 0;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// The rest of the previous block stays unused.
bool take_block(std::size_t bytes) noexcept {
    const std::size_t size = bytes > block_bytes ? round_up(bytes, page_bytes) : block_bytes;
    void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return false;
    next = static_cast<char*>(block);
    left = size;
    return true;
}

}  // namespace

void* take_lasting(std::size_t bytes) noexcept {
    bytes = round_up(bytes, alignof(std::max_align_t));
    if (bytes > left && !take_block(bytes)) return nullptr;
    char* const taken = next;
    next += bytes;
    left -= bytes;
    return taken;
}

}  // namespace coroscope::runtime::inline base
