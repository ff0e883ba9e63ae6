// SPDX-License-Identifier: Apache-2.0

// A program that kills itself after BYTES of records:
//
//   killed_program FILE BYTES THREADS BURST [FILE_BYTES]
//
// Its threads record BYTES together. None goes on before all of them have begun. A thread sleeps for burst_pause after each BURST bytes; with 0
// it never sleeps. With FILE_BYTES the session has several files, and waits for room.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <latch>
#include <thread>

#include <coroscope/profile.hpp>

#include "../support/session_steps.hpp"
#include "killed_program.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t record_bytes = 16;
constexpr std::uint64_t cycle_bytes = 5 * record_bytes;  // the steps begin again after them

std::uint64_t number(const char* word) { return std::strtoull(word, nullptr, 10); }

void record(std::uint64_t bytes, std::uint64_t burst) {
    while (bytes != 0) {
        const std::uint64_t now = burst == 0 ? bytes : std::min(bytes, burst);
        steps(now / record_bytes);
        bytes -= now;
        if (burst != 0) std::this_thread::sleep_for(burst_pause);
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 5 && count != 6) return 2;
    const std::uint64_t bytes = number(words[2]);
    const auto threads = static_cast<std::ptrdiff_t>(number(words[3]));
    const std::uint64_t burst = number(words[4]);
    profile_options options{
        .output = words[1], .all_threads = true, .limit_bytes = std::size_t{1} << 30};
    if (count == 6) {
        options.policy = overflow::wait;
        options.rotate_bytes = number(words[5]);
        options.keep_files = 1000;
    }
    profile session{options};
    if (session.status().state != session_state::recording) return 1;
    std::latch begun(threads);
    std::latch done(threads);
    for (std::ptrdiff_t thread = 0; thread < threads; ++thread) {
        std::thread([&, share = bytes / static_cast<std::uint64_t>(threads)] {
            const std::uint64_t first = std::min(share, cycle_bytes);
            record(first, 0);
            begun.arrive_and_wait();
            record(share - first, burst);
            done.arrive_and_wait();
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }).detach();
    }
    done.wait();
    ::raise(SIGKILL);
}
