// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state that all parts of an open chunk store share: its mapping, its chunks and its condition.
// Every recording thread reaches it.

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "chunk.hpp"
#include "chunk_pool.hpp"
#include "mapping.hpp"
#include "store_settings.hpp"

namespace coroscope::runtime::inline store {

/// The kernel's facts get a chunk only if this many stay free for recording threads.
constexpr std::uint32_t chunks_left_for_threads = 4;

struct store_base {
    store_base(const store_settings& given, std::uint32_t capacity) noexcept
        : settings(given),
          error(map.create(given.path,
                           trace::file_header_bytes + std::uint64_t{capacity} * given.chunk_bytes)),
          pool(map.base(), given.chunk_bytes, capacity,
               given.policy == trace::overflow_policy::overwrite_oldest) {}

    trace::file_header& header() const noexcept { return pool.header(); }

    /// Sets the reason why the trace is not complete. The first error is kept. The header has a
    /// copy for readers of the trace.
    void note_error(int number) noexcept {
        int none = 0;
        if (number != 0 &&
            write_error.compare_exchange_strong(none, number, std::memory_order_relaxed))
            publish_word(&header().write_error, static_cast<std::uint64_t>(number));
    }

    /// The damage that others did to the file, as by mapping::file_damage(). Also ESTALE if the
    /// SIGBUS handler replaced a mapping.
    int file_damage() noexcept {
        const bool replaced = settings.watched != nullptr &&
                              settings.watched->replaced.load(std::memory_order_relaxed);
        return replaced ? ESTALE : map.file_damage();
    }

    /// Returns whether a thread that finds no chunk waits for another store, in which it goes on.
    bool has_successor() const noexcept {
        return settings.policy == trace::overflow_policy::wait && settings.when_large != nullptr &&
               !gives_up_late.load(std::memory_order_relaxed);
    }

    /// Bytes of the chunks that were opened so far. Chunks that were overwritten count again.
    std::uint64_t opened_bytes() const noexcept { return pool.opened() * pool.chunk_bytes(); }

    const store_settings settings;  ///< its path is valid in open() only
    mapping map;
    const int error;  ///< result of creating the mapping
    chunk_pool pool;

    std::atomic<int> write_error{0};            ///< see note_error()
    std::atomic<std::uint32_t> threads{0};      ///< threads with a record that have not left
    std::atomic<bool> serves_kernel{false};     ///< the kernel's facts take chunks, too
    std::atomic<bool> serves_real_time{false};  ///< a real-time thread records: it makes no chunks
    std::atomic<bool> clock_started{false};     ///< recording has started: the helper must note it
    std::atomic<bool> closing{false};           ///< see store_visit
    std::atomic<bool> given_up{false};          ///< threads take no more chunks
    std::atomic<bool> gives_up_late{false};     ///< a thread waited for that in vain
    std::atomic<std::uint32_t> visitors{0};
    std::atomic<bool> cut{
        false};  ///< the file is not ours any more: see store_helper::watch_file()
    std::atomic<bool> cut_told{false};   ///< every record from here on is counted as lost
    std::atomic<bool> exhausted{false};  ///< the pool cannot grow now: at its limit, or out of disk
    std::atomic<std::uint32_t> chunks_changed{0};  ///< futex of policy wait
    std::atomic<std::uint32_t> waiters{0};
};

/// Gives a thread access to the parts for its lifetime. close() admits no new visits and waits for
/// the open ones. After that no other thread accesses the trace, except for records that threads
/// still write into open chunks.
class store_visit {
public:
    explicit store_visit(store_base& parts) noexcept : parts_(parts) {
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
    store_base& parts_;
    bool open_;
};

}  // namespace coroscope::runtime::inline store
