// SPDX-License-Identifier: Apache-2.0
#include "chunk_sealer.hpp"

#include <algorithm>
#include <mutex>

#include "../base/bounded_wait.hpp"
#include "store_base.hpp"

namespace coroscope::runtime::inline store {
namespace {

constexpr std::uint32_t turn_bytes = std::uint32_t{1} << 20;
constexpr int turns_of_help = 2;  // for each megabyte that the thread made
constexpr std::uint32_t most_unsealed_bytes = std::uint32_t{8} << 20;

}  // namespace

bool chunk_sealer::create() noexcept {
    return sealed_.create(parts_.pool.capacity(), parts_.pool.chunk_bytes());
}

bool chunk_sealer::seal_some() noexcept {
    const std::lock_guard guard(lock_);
    return seal_under_lock();
}

// A chunk that a signal handler handed over too early is put back, until its last place is written.
bool chunk_sealer::seal_under_lock() noexcept {
    const std::uint32_t turn = std::max(turn_bytes / parts_.pool.chunk_bytes(), 1U);
    std::uint32_t unwritten = chunk_pool::none;  // the first of them
    bool is_left = true;
    for (std::uint32_t tried = 0; is_left && tried < turn; ++tried) {
        const std::uint32_t index = parts_.pool.pop_handed_over();
        is_left = index != chunk_pool::none;
        if (!is_left || try_seal(index)) continue;
        parts_.pool.put_back(index);
        is_left = index != unwritten;
        if (unwritten == chunk_pool::none) unwritten = index;
    }
    if (parts_.map.has_file()) sealed_.release(parts_.map);
    return is_left;
}

bool chunk_sealer::try_seal(std::uint32_t index) noexcept {
    if (!seal(*parts_.pool.chunk(index), parts_.pool.chunk_bytes())) return false;
    if (parts_.map.has_file()) sealed_.add(index, parts_.map);
    return true;
}

bool chunk_sealer::is_behind() const noexcept {
    if (!parts_.map.has_file() ||
        parts_.settings.policy == trace::overflow_policy::overwrite_oldest)
        return false;
    const std::uint64_t unsealed = parts_.pool.opened() - sealed_.count();
    return unsealed > parts_.threads.load(std::memory_order_relaxed) +
                          std::uint64_t{most_unsealed_bytes} / parts_.pool.chunk_bytes();
}

void chunk_sealer::help() noexcept {
    for (int turn = 0; turn < turns_of_help && is_behind() && lock_soon(); ++turn) {
        seal_under_lock();
        lock_.unlock();
    }
}

// Waits for a bounded time, because the holder may wait for a disk. After that no thread waits
// until the lock was free once.
bool chunk_sealer::lock_soon() noexcept {
    const bool waits = !is_stuck_.load(std::memory_order_relaxed);
    const bool locked =
        waits ? wait_bounded([this] { return lock_.try_lock(); }) : lock_.try_lock();
    if (locked == !waits) is_stuck_.store(!locked, std::memory_order_relaxed);
    return locked;
}

}  // namespace coroscope::runtime::inline store
