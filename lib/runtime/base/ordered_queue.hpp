// SPDX-License-Identifier: Apache-2.0
#pragma once

// A lock-free first-in-first-out queue of chunk indices (Michael and Scott, 1996): strictly
// ordered, any number of producers and consumers, and a thread that stops half-way through an
// operation hinders no other. Every index below the capacity may be in the queue once, so the queue
// is never full and never allocates after create(). An empty queue is all zeros: pages of the
// mapping take no memory until one of their indices is pushed or touched.

#include <atomic>
#include <cstdint>

#include <sys/mman.h>

#include "unlocked_memory.hpp"

namespace coroscope::runtime::inline base {

class ordered_queue {
public:
    static constexpr std::uint32_t none = 0xffff'ffff;

    /// Room for the indices below `capacity`. False when there is no memory.
    bool create(std::uint32_t capacity) noexcept {
        bytes_ = (std::uint64_t{capacity} + first_chunk_node) * sizeof(cell);
        void* at = map_unlocked(bytes_, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        if (at == MAP_FAILED) return false;
        cells_ = static_cast<cell*>(at);
        head_.store(dummy_node);
        tail_.store(dummy_node);
        return true;
    }

    void destroy() noexcept {
        if (cells_ != nullptr) ::munmap(cells_, bytes_);
        cells_ = nullptr;
    }

    /// Faults in the page of `index`, so that push() does not have to.
    void touch(std::uint32_t index) noexcept {
        cells_[index + first_chunk_node].node.store(0, std::memory_order_relaxed);
    }

    /// Precondition: `index` is not in the queue, and the caller owns it.
    void push(std::uint32_t index) noexcept {
        const std::uint32_t node = node_of(index);
        std::atomic<std::uint64_t>& next = cells_[node].next;
        cells_[node].index.store(index, std::memory_order_relaxed);
        next.store(bump(next.load(std::memory_order_relaxed), no_node), std::memory_order_relaxed);
        append(node);
    }

    /// The index that was pushed first, or none.
    std::uint32_t pop() noexcept {
        for (;;) {
            std::uint64_t head =
                head_.load(std::memory_order_acquire);  // pairs with the exchanges of head_
            std::uint64_t tail =
                tail_.load(std::memory_order_acquire);  // pairs with advance_tail()
            const std::uint64_t next = next_of(head);
            if (head != head_.load(std::memory_order_acquire))
                continue;  // the node may have been reused before `next` was read
            if (node_in(next) == no_node) return none;
            if (node_in(head) == node_in(tail)) {  // a producer has linked, but not moved the tail
                advance_tail(tail, next);
                continue;
            }
            const std::uint32_t index = cells_[node_in(next)].index.load(std::memory_order_relaxed);
            // Release: hands the old dummy node on, pairs with the loads of head_ above.
            if (!head_.compare_exchange_weak(head, bump(head, node_in(next)),
                                             std::memory_order_acq_rel, std::memory_order_relaxed))
                continue;
            cells_[index + first_chunk_node].node.store(node_in(head), std::memory_order_relaxed);
            return index;
        }
    }

    /// Returns true if the queue seems empty. Another thread may change that at any moment.
    bool is_empty() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_acquire);  // as in pop()
        return node_in(next_of(head)) == no_node;
    }

private:
    // A link, or an end of the queue, is a node (low 32 bits) and a count of changes (high 32
    // bits). The count prevents the ABA problem: a compare-exchange fails if the node was reused.
    static constexpr std::uint32_t no_node = 0;
    static constexpr std::uint32_t dummy_node = 1;
    static constexpr std::uint32_t first_chunk_node = 2;

    struct cell {
        std::atomic<std::uint64_t> next;   // of the node
        std::atomic<std::uint32_t> index;  // that the node carries
        std::atomic<std::uint32_t> node;   // of the chunk with this cell; 0: the same cell
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    static std::uint32_t node_in(std::uint64_t link) noexcept {
        return static_cast<std::uint32_t>(link);
    }
    static std::uint64_t bump(std::uint64_t link, std::uint32_t node) noexcept {
        return ((link >> 32) + 1) << 32 | node;
    }

    // Acquire: pairs with the link in append(), so that the linked node's index is seen.
    std::uint64_t next_of(std::uint64_t link) const noexcept {
        return cells_[node_in(link)].next.load(std::memory_order_acquire);
    }

    // A popped index leaves its node behind as the dummy and takes the old dummy with it.
    std::uint32_t node_of(std::uint32_t index) noexcept {
        const std::uint32_t node =
            cells_[index + first_chunk_node].node.load(std::memory_order_relaxed);
        return node != no_node ? node : index + first_chunk_node;
    }

    void append(std::uint32_t node) noexcept {
        for (;;) {
            std::uint64_t tail =
                tail_.load(std::memory_order_acquire);  // pairs with advance_tail()
            std::uint64_t next = next_of(tail);
            if (tail != tail_.load(std::memory_order_acquire))
                continue;  // the node may have been reused before `next` was read
            if (node_in(next) != no_node) {
                advance_tail(tail, next);
                continue;
            }
            // Release: publishes the node's index and its empty link, pairs with next_of().
            const std::uint64_t link = bump(next, node);
            if (!cells_[node_in(tail)].next.compare_exchange_weak(
                    next, link, std::memory_order_release, std::memory_order_relaxed))
                continue;
            advance_tail(tail, link);
            return;
        }
    }

    void advance_tail(std::uint64_t& tail, std::uint64_t next) noexcept {
        // Release: pairs with the loads of tail_; failure means that another thread moved it.
        tail_.compare_exchange_strong(tail, bump(tail, node_in(next)), std::memory_order_release,
                                      std::memory_order_relaxed);
    }

    alignas(64) std::atomic<std::uint64_t> head_{dummy_node};
    alignas(64) std::atomic<std::uint64_t> tail_{dummy_node};
    alignas(64) cell* cells_ = nullptr;
    std::uint64_t bytes_ = 0;
};

}  // namespace coroscope::runtime::inline base
