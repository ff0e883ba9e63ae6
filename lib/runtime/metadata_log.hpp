// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records of chunks of kind metadata: sites, strings, threads, clock points. They are appended
// under a lock, never overwritten, and a chunk is kept aside for them, so that what was recorded can
// be named after the last free chunk is gone.
//
// Thread-safe.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "chunk_pool.hpp"
#include "quiet_mutex.hpp"

namespace coroscope::runtime {

class metadata_log {
public:
    explicit metadata_log(chunk_pool& pool) noexcept;

    /// Appends a record and returns its payload's place in the trace; null when there is no room or
    /// the tag does not fit the payload.
    std::byte* append(std::uint64_t first, std::uint64_t tag, const void* payload,
                      std::size_t bytes) noexcept;

    /// Opens the first chunk and takes a spare one aside, unless that is done.
    void keep_spare() noexcept;

private:
    std::byte* room(std::size_t bytes) noexcept;

    chunk_pool& pool_;
    quiet_mutex lock_;
    bool wants_spare_;
    std::uint32_t spare_ = chunk_pool::none;
    std::byte* cursor_ = nullptr;
    std::byte* end_ = nullptr;
};

}  // namespace coroscope::runtime
