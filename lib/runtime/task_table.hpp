// SPDX-License-Identifier: Apache-2.0
#pragma once

// The live-task table of a trace that overwrites its oldest records: task starts outlive the
// records that told them. Open addressing by task id, at most `probes` slots away from home, over
// one or more neighbouring chunks of kind tasks.
//
// put() and take() are lock-free, allocate nothing and may be called by any thread. A slot is
// claimed in memory of our own and its task is published last, so that the trace never shows a
// slot half-written, nor a process killed in between.

#include <atomic>
#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "chunk_pool.hpp"

namespace coroscope::runtime {

class task_table {
public:
    explicit task_table(chunk_pool& pool) noexcept : pool_(pool) {}
    task_table(const task_table&) = delete;
    task_table& operator=(const task_table&) = delete;
    ~task_table();

    /// Chunks that a table takes of a trace of `capacity` chunks.
    static std::uint32_t wanted_chunks(std::uint32_t capacity, std::uint32_t chunk_bytes) noexcept;

    /// Takes up to `chunks` chunks from the pool, whose first free ones they are. Without memory
    /// there is no table. Before any put() or take().
    void create(std::uint32_t chunks, std::uint64_t ticks) noexcept;

    bool put(const trace::task_slot& task) noexcept;
    /// What stood there; an empty slot if it did not.
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

}  // namespace coroscope::runtime
