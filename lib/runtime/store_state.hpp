// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a chunk store consists of while it is open. One allocation, reached by every recording
// thread; it lives until release_mapping().

#include <atomic>
#include <cstdint>

#include "chunk.hpp"
#include "chunk_pool.hpp"
#include "chunk_store.hpp"
#include "mapping.hpp"
#include "metadata_log.hpp"
#include "store_helper.hpp"
#include "task_table.hpp"

namespace coroscope::runtime {

/// What the helper thread works on.
struct store_parts {
    store_parts(const chunk_store::settings& given, std::uint32_t capacity) noexcept
        : settings(given),
          error(map.create(given.path,
                           trace::file_header_bytes + std::uint64_t{capacity} * given.chunk_bytes)),
          pool(map.base(), given.chunk_bytes, capacity,
               given.policy == trace::overflow_policy::overwrite_oldest),
          metadata(pool),
          tasks(pool) {}

    trace::file_header& header() const noexcept { return pool.header(); }

    /// What keeps the trace from being whole; the first error stays.
    void note_error(int number) noexcept {
        if (number != 0 && header().write_error == 0)
            publish_word(&header().write_error, static_cast<std::uint64_t>(number));
    }

    const chunk_store::settings settings;  ///< its path is valid in open() only
    mapping map;
    const int error;  ///< of the mapping's creation
    chunk_pool pool;
    metadata_log metadata;
    task_table tasks;

    std::atomic<std::uint32_t> threads_seen{0};
    std::atomic<bool> clock_started{false};  ///< for the helper to take: a new start
    std::atomic<bool> closing{false};        ///< see store_visit
    std::atomic<std::uint32_t> visitors{0};
    std::atomic<bool> cut{
        false};  ///< the file is not ours any more: see store_helper::watch_file()
    std::atomic<bool> cut_told{false};   ///< every record from here on is counted as lost
    std::atomic<bool> exhausted{false};  ///< the pool cannot grow now: at its limit, or out of disk
    std::atomic<std::uint32_t> chunks_changed{0};  ///< futex of policy wait
    std::atomic<std::uint32_t> waiters{0};
};

/// A thread's stay among the parts. close() lets nobody in any more and waits for those inside, so
/// that it has the trace to itself but for the records that threads still write into open chunks.
class store_visit {
public:
    explicit store_visit(store_parts& parts) noexcept : parts_(parts) {
        // Sequentially consistent, as in close(): either it sees us, or we see it.
        parts_.visitors.fetch_add(1, std::memory_order_seq_cst);
        open_ = !parts_.closing.load(std::memory_order_seq_cst);
    }
    store_visit(const store_visit&) = delete;
    store_visit& operator=(const store_visit&) = delete;
    ~store_visit() {
        parts_.visitors.fetch_sub(1, std::memory_order_release);  // pairs with the load in close()
    }

    bool open() const noexcept { return open_; }

private:
    store_parts& parts_;
    bool open_;
};

struct chunk_store::state : own_memory {
    state(const chunk_store::settings& given, std::uint32_t capacity) noexcept
        : parts(given, capacity), helper(parts) {}

    store_parts parts;
    store_helper helper;
    bool abandoned = false;  ///< by a forked child: anything may be half-done
};

}  // namespace coroscope::runtime
