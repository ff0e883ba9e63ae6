// SPDX-License-Identifier: Apache-2.0

// Modes of hostile_program: memory runs out.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <coroscope/async_stack.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include "../support/session_steps.hpp"
#include "../support/taken_memory.hpp"
#include "hostile_modes.hpp"

using namespace std::chrono_literals;

namespace coroscope::test {

namespace {

void leave_room_for(std::size_t bytes) {
    const rlimit limit{address_space() + bytes, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(9);
}

void exhaust_memory() {
    for (std::size_t bytes = 1U << 20; bytes >= 16; bytes /= 2)
        while (take_memory(bytes)) {
        }
}

}  // namespace

// no memory at the start FILE: there is too little memory for a session of 1 GiB, in memory and in a
// file, and for the table of live tasks
int start_without_memory(arguments given) {
    leave_room_for(64U << 20);
    constexpr std::uint64_t too_much = 1U << 30;
    print(profile{{.all_threads = true, .limit_bytes = too_much}}.status());
    print(profile{{.output = given[0], .all_threads = true, .limit_bytes = too_much}}.status());
    print(profile{{.limit_bytes = 1U << 20}}.status());
    leave_room_for(4U << 20);
    print(profile{{.limit_bytes = 32U << 20}}.status());
    return track_live_tasks(true) ? 1 : 0;
}

// no memory any more [FILE]: memory runs out during a session, which goes on
int go_on_without_memory(arguments given) {
    // The end of the thread that records states would make room.
    profile session{
        {.output = given[0], .all_threads = true, .limit_bytes = 8U << 20, .thread_states = false}};
    std::atomic<bool> exhausted{false};
    std::thread late([&] {  // the first use of the runtime, without memory for it
        while (!exhausted) std::this_thread::sleep_for(100us);
        steps(10);
    });
    steps(1000);
    leave_room_for(0);
    exhaust_memory();
    exhausted = true;
    late.join();
    steps(100'000);
    const std::uint64_t lost = session.status().lost_records;
    const bool empty = session.stop().empty();
    const session_status status = session.status();
    char line[256];
    const int size =
        std::snprintf(line, sizeof line, "%llu %d %d %s\n", static_cast<unsigned long long>(lost),
                      empty ? 1 : 0, status.error_number, status.message);
    return ::write(STDOUT_FILENO, line, static_cast<std::size_t>(size)) == size ? 0 : 1;
}

}  // namespace coroscope::test
