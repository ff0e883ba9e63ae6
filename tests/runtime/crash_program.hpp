// SPDX-License-Identifier: Apache-2.0
#pragma once

// What crash_program and the tests that run it share.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coroscope::test {

/// The descriptor that the program inherits for its progress.
inline constexpr int progress_descriptor = 42;

/// In shared memory, so that it outlives the program: what is counted here was recorded before.
struct thread_progress {
    std::atomic<std::uint64_t> os_id{0};
    std::atomic<std::uint64_t> done{
        0};  ///< steps; of the thread of coroutines: rounds, a step in each
};
struct program_progress {
    static constexpr std::size_t main_thread = 0;  ///< it is the one that ends the process
    static constexpr std::size_t coroutines = 3;   ///< runs tasks; the others plain scopes
    std::atomic<std::uint32_t> ready{0};
    thread_progress threads[4];
};

}  // namespace coroscope::test
