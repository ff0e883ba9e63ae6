// SPDX-License-Identifier: Apache-2.0

// A program that records facts and context switches until it is killed:
//
//   crash_facts_program FILE POLICY
//
// POLICY is drop or overwrite. Some threads record values, and note their progress in the memory
// behind progress_descriptor. Others wait for a mutex, and pass a byte back and forth.

#include <cstring>
#include <mutex>
#include <thread>

#include <unistd.h>

#include <coroscope/coroscope.hpp>
#include <coroscope/request.hpp>
#include <coroscope/traced_mutex.hpp>
#include <coroscope/value.hpp>

#include "crash_program.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t pause_every = 256;  // leaves room for the other threads

void record_values(thread_progress& mine) {
    mine.os_id.store(static_cast<std::uint64_t>(::gettid()));
    for (std::uint64_t number = 0;; ++number) {
        COROSCOPE_VALUE("number", number);
        mine.done.store(number + 1, std::memory_order_release);
        if (number % pause_every == 0) ::usleep(50);
    }
}

traced_mutex<> guard("guard");

void wait_in_requests() {
    for (;;) {
        COROSCOPE_REQUEST("takes the guard");
        const std::lock_guard held(guard);
        ::usleep(20);
    }
}

void answer_bytes(int from, int to) {
    char byte = 0;
    while (::read(from, &byte, 1) == 1 && ::write(to, &byte, 1) == 1) {
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) return 2;
    auto* const progress = map_progress<facts_progress>();
    int there[2], back[2];
    if (progress == nullptr || ::pipe(there) != 0 || ::pipe(back) != 0) return 1;
    const bool overwrites = std::strcmp(words[2], "overwrite") == 0;
    profile session{{.output = words[1],
                     .all_threads = true,
                     .policy = overwrites ? overflow::overwrite_oldest : overflow::drop_newest,
                     .limit_bytes = overwrites ? std::size_t{64} << 12 : std::size_t{64} << 20,
                     .chunk_bytes = 4096}};
    if (session.status().state != session_state::recording) return 1;
    for (thread_progress& each : progress->threads)
        std::thread([&each] { record_values(each); }).detach();
    for (int each = 0; each < 2; ++each) std::thread(wait_in_requests).detach();
    std::thread([&] { answer_bytes(there[0], back[1]); }).detach();
    const char byte = 0;
    if (::write(there[1], &byte, 1) != 1) return 1;
    progress->ready.store(1);
    answer_bytes(back[0], there[1]);
}
