// SPDX-License-Identifier: Apache-2.0
#pragma once

// The settings of a chunk store.

#include <cstdint>

#include <coroscope/trace/format.hpp>

#include "budget_settings.hpp"
#include "watched_file.hpp"

namespace coroscope::runtime::inline store {

struct store_settings {
    const char* path = nullptr;     ///< trace file; null keeps the trace in memory
    std::uint64_t limit_bytes = 0;  ///< limit of the whole trace, with header and metadata
    std::uint32_t chunk_bytes = 0;  ///< a multiple of 4096
    trace::overflow_policy policy = trace::overflow_policy::drop_newest;
    bool task_table = false;    ///< make the live-task table (overwrite_oldest)
    std::uint32_t threads = 0;  ///< threads that may need a chunk at the start
    /// Called once, on the helper thread, when the file was cut. Must take the chunks away from all
    /// threads, so that their next records take the slow path. May be null.
    void (*when_cut)() noexcept = nullptr;
    /// Called once, on the helper thread, before anything else. May be null.
    void (*when_begun)() noexcept = nullptr;
    /// Called once, on the helper thread, when the threads have opened chunks of `large_bytes`
    /// bytes. May be null.
    void (*when_large)() noexcept = nullptr;
    std::uint64_t large_bytes = 0;
    /// The store stores its mappings of the file here, for the SIGBUS handler. If the handler has
    /// replaced one of them, the store treats the file as cut. Null if there is no handler or no
    /// file.
    watched_file* watched = nullptr;
    budget_settings budget{};
};

}  // namespace coroscope::runtime::inline store
