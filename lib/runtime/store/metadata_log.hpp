// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records of chunks of kind metadata: sites, strings, threads, clock points. They are appended
// under a lock and never overwritten. A chunk is kept aside for them, so that records can be named
// after the last free chunk is gone.
//
// Thread-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "../base/quiet_mutex.hpp"
#include "chunk_pool.hpp"
#include "store_growth.hpp"

namespace coroscope::runtime::inline store {

class metadata_log {
public:
    explicit metadata_log(chunk_pool& pool, store_growth& growth) noexcept;

    /// Appends a record and returns its payload's place in the trace; null when there is no room or
    /// the tag does not fit the payload.
    std::byte* append(std::uint64_t first, std::uint64_t tag, const void* payload,
                      std::size_t bytes) noexcept;

    /// Returns whether there was no room for a payload of that size, and none has been made since.
    /// Lock-free.
    bool refused(std::size_t payload_bytes) const noexcept {
        return whole_bytes(payload_bytes) >= refused_bytes_.load(std::memory_order_relaxed);
    }

    /// Opens the first chunk and keeps a spare one aside, unless both have been done.
    void keep_spare() noexcept;

private:
    static constexpr std::size_t nothing_refused = ~std::size_t{0};

    static constexpr std::size_t whole_bytes(std::size_t payload_bytes) noexcept {
        return trace::record_unit_bytes + trace::padded_payload(payload_bytes);
    }
    std::byte* room(std::size_t bytes) noexcept;

    chunk_pool& pool_;
    store_growth& growth_;
    quiet_mutex lock_;
    bool wants_spare_;
    std::uint32_t spare_ = chunk_pool::none;
    std::byte* cursor_ = nullptr;
    std::byte* end_ = nullptr;
    std::atomic<std::size_t> refused_bytes_{
        nothing_refused};  ///< the smallest record, with its header
};

}  // namespace coroscope::runtime::inline store
