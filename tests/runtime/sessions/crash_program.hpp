// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by crash_program, crash_facts_program and the tests that run them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sys/mman.h>

namespace coroscope::test {

/// The descriptor that the program inherits for its progress.
inline constexpr int progress_descriptor = 42;

/// The repeated records of a thread of plain scopes: the number of each step in its cycle.
inline constexpr std::string_view step_records = "01234";

/// The records of one round of the thread of coroutines, in the letters of crash_records.hpp: a
/// task is spawned and resumed, spawns a child and transfers to it. The child has a step, suspends,
/// is resumed, finishes and transfers back. The first task's scope ends, and that task finishes.
inline constexpr std::string_view round_records = "srstSurfRF";

/// In shared memory, so that it outlives the program. A record is counted here after it was
/// written.
struct thread_progress {
    std::atomic<std::uint64_t> os_id{0};
    std::atomic<std::uint64_t> done{0};  ///< records
};
struct program_progress {
    static constexpr std::size_t main_thread = 0;  ///< ends the process
    static constexpr std::size_t coroutines =
        3;  ///< runs tasks; the other threads run plain scopes
    std::atomic<std::uint32_t> ready{0};
    thread_progress threads[4];
};

/// The progress of the threads of crash_facts_program that record values.
struct facts_progress {
    static constexpr std::size_t values = 2;  ///< number of threads that record values
    std::atomic<std::uint32_t> ready{0};
    thread_progress threads[values];
};

/// Maps the memory behind a descriptor. Returns null if that fails.
template <class Progress>
Progress* map_progress(int descriptor = progress_descriptor) {
    void* at = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? nullptr : static_cast<Progress*>(at);
}

}  // namespace coroscope::test
