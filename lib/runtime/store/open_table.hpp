// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places of open scopes in a trace: chunks of kind open, which are taken from the pool when
// they are needed and never handed over, so that nothing overwrites them.
//
// A place has a number. Numbers belong to the entries of open_scopes.hpp, which are dense and
// outlive sessions: an entry has the same number in each session's table.
//
// Threads: place() is lock-free if the place exists. It takes a lock to make places. The holder of
// the lock receives no signals. The caller must be inside the store (store_visit).

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <coroscope/trace/open_format.hpp>

#include "../base/quiet_mutex.hpp"
#include "chunk_pool.hpp"
#include "store_growth.hpp"

namespace coroscope::runtime::inline store {

class open_table {
public:
    open_table(chunk_pool& pool, store_growth& growth) noexcept : pool_(pool), growth_(growth) {}
    open_table(const open_table&) = delete;
    open_table& operator=(const open_table&) = delete;

    /// Returns the place with that number, or null if the trace has no room for it. `full` says
    /// that no chunk can be taken at present.
    trace::open_scope* place(std::uint32_t number, bool full) noexcept;

private:
    static constexpr std::size_t most_chunks = 1024;

    [[nodiscard]] bool may_grow() const noexcept;
    std::byte* make_chunk(std::size_t which) noexcept;

    chunk_pool& pool_;
    store_growth& growth_;
    quiet_mutex lock_;
    std::atomic<std::byte*> places_[most_chunks] = {};  // first place of each chunk
    std::atomic<std::uint32_t> chunks_{0};              // number of chunks
};

}  // namespace coroscope::runtime::inline store
