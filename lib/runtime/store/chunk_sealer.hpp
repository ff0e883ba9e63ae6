// SPDX-License-Identifier: Apache-2.0
#pragma once

// Seals the chunks that threads handed over, unless they are overwritten. The helper does it. A
// thread that had to make chunks itself helps if the helper is far behind, because an unsealed
// chunk of a file keeps its pages in the process.
//
// Threads: any. A caller must be inside the store, or be its helper.

#include <atomic>
#include <cstdint>

#include "../base/quiet_mutex.hpp"
#include "sealed_chunks.hpp"

namespace coroscope::runtime::inline store {

struct store_base;

class chunk_sealer {
public:
    explicit chunk_sealer(store_base& parts) noexcept : parts_(parts) {}
    chunk_sealer(const chunk_sealer&) = delete;
    chunk_sealer& operator=(const chunk_sealer&) = delete;

    /// Returns false if there is no memory. Must be called before any other function.
    bool create() noexcept;

    /// Seals about a megabyte of the chunks that were handed over first, and unmaps sealed chunks
    /// of a file. Returns false if no chunk is left that can be sealed now.
    bool seal_some() noexcept;

    /// Returns whether so many chunks of a file wait for their seal that it is urgent.
    bool is_behind() const noexcept;

    /// Seals two megabytes if it is urgent.
    void help() noexcept;

    /// The sealed chunks of a file. Only the thread that closes the store may use them, after the
    /// end of the helper and of all visits.
    const sealed_chunks& sealed() const noexcept { return sealed_; }

private:
    bool seal_under_lock() noexcept;
    bool try_seal(std::uint32_t index) noexcept;
    bool lock_soon() noexcept;

    store_base& parts_;
    quiet_mutex lock_;                   // the helper's, nearly always
    std::atomic<bool> is_stuck_{false};  // a thread gave up waiting for the holder
    sealed_chunks sealed_;
};

}  // namespace coroscope::runtime::inline store
