// SPDX-License-Identifier: Apache-2.0
#pragma once

// The live-task table of a trace that overwrites its oldest records. It keeps the start of each
// live task after the start's record was overwritten. Open addressing by task id, at most `probes`
// slots away from home, over one or more neighbouring chunks of kind tasks.
//
// put() and take() are lock-free, allocate nothing and may be called by any thread. A slot is
// claimed in memory outside the trace, and its task id is written last. The trace therefore never
// contains a half-written task, even if the process is killed in between.

#include <atomic>
#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "chunk_pool.hpp"

namespace coroscope::runtime::inline store {

class task_table {
public:
    explicit task_table(chunk_pool& pool) noexcept : pool_(pool) {}
    task_table(const task_table&) = delete;
    task_table& operator=(const task_table&) = delete;
    ~task_table();

    /// Returns the number of chunks for the table of a trace of `capacity` chunks.
    static std::uint32_t wanted_chunks(std::uint32_t capacity, std::uint32_t chunk_bytes) noexcept;

    /// Takes up to `chunks` chunks from the pool. A chunk that is not the neighbour of the one
    /// before stays empty and ends the table. If memory is short, the table has no slots. Must be
    /// called before any put() or take().
    void create(std::uint32_t chunks, std::uint64_t ticks) noexcept;

    /// Returns false, and counts the task in the header, if no slot near its home is free.
    bool put(const trace::task_slot& task) noexcept;
    /// Removes a task and returns its slot, or an empty slot if the task was not in the table.
    trace::task_slot take(std::uint64_t task) noexcept;

private:
    static constexpr std::uint32_t probes = 16;

    std::uint32_t home(std::uint64_t task) const noexcept;
    trace::task_slot& slot(std::uint32_t index) const noexcept;

    chunk_pool& pool_;
    std::atomic<bool>* claimed_ = nullptr;
    std::uint32_t first_chunk_ = 0;
    std::uint32_t slots_per_chunk_ = 1;
    std::uint32_t slots_ = 0;
};

}  // namespace coroscope::runtime::inline store
