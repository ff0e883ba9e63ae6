// SPDX-License-Identifier: Apache-2.0
#pragma once

// What crash_program and the tests that run it share.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coroscope::test {

/// The descriptor that the program inherits for its progress.
inline constexpr int progress_descriptor = 42;

/// What a thread of plain scopes records, again and again: the number of each step in its cycle.
inline constexpr std::string_view step_records = "01234";

/// What the thread of coroutines records in a round, by the letters of crash_records.hpp: a task is spawned and resumed,
/// spawns another and hands over to it; that has a step, suspends, is resumed, finishes and hands back; the first one's
/// scope ends, and it finishes.
inline constexpr std::string_view round_records = "srstSurfRF";

/// In shared memory, so that it outlives the program: what is counted here was recorded before.
struct thread_progress {
    std::atomic<std::uint64_t> os_id{0};
    std::atomic<std::uint64_t> done{0};  ///< records
};
struct program_progress {
    static constexpr std::size_t main_thread = 0;  ///< it is the one that ends the process
    static constexpr std::size_t coroutines = 3;   ///< runs tasks; the others plain scopes
    std::atomic<std::uint32_t> ready{0};
    thread_progress threads[4];
};

}  // namespace coroscope::test
