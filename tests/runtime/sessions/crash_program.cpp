// SPDX-License-Identifier: Apache-2.0

// A program under load that ends at a given moment, in a given way:
//
//   crash_program FILE POLICY ENDING MICROSECONDS
//
// Its threads note their progress in the memory behind progress_descriptor. ENDING is kill (the
// program waits for it), abort, segv, _exit, quick_exit or throw.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/session_steps.hpp"
#include "crash_program.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

overflow policy(const char* text) {
    if (std::strcmp(text, "wait") == 0) return overflow::wait;
    return std::strcmp(text, "overwrite") == 0 ? overflow::overwrite_oldest : overflow::drop_newest;
}

constexpr std::uint64_t pause_every = 2048;  // leaves room for the other threads

// Called after each record, and before the next.
void one_more(thread_progress& mine) {
    mine.done.store(mine.done.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void run_step(thread_progress& mine, std::uint64_t number) {
    step(number);
    one_more(mine);
}

task<void> leaf(thread_progress& mine, slot& place, std::uint64_t number) {
    one_more(mine);  // the awaiter transferred to this task
    run_step(mine, number);
    co_await suspend_into(place);
    one_more(mine);
}

// The scope is in the frame, across a suspension.
foreign::manual<foreign::declared> round(thread_progress& mine, slot& place, std::uint64_t number) {
    one_more(mine);
    {
        COROSCOPE("round");
        task<void> child = leaf(mine, place, number);
        one_more(mine);
        co_await std::move(child);
        one_more(mine);  // the child finished and transferred back
    }
    one_more(mine);
}

// Makes the records of round_records.
void run_round(thread_progress& mine, std::uint64_t number) {
    slot place;
    auto parent = round(mine, place, number);
    one_more(mine);
    parent.resume();
    one_more(mine);  // the child suspended
    place.resume();
    one_more(mine);
}

void record_while(thread_progress& mine, void (*work)(thread_progress&, std::uint64_t),
                  bool (*goes_on)()) {
    mine.os_id.store(static_cast<std::uint64_t>(::gettid()));
    for (std::uint64_t number = 0; goes_on();) {
        work(mine, number++);
        if (number % pause_every == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

std::chrono::steady_clock::time_point end_time;

bool for_ever() { return true; }
bool until_end() { return std::chrono::steady_clock::now() < end_time; }

// UBSan would end the program at the null pointer, before the fault.
__attribute__((no_sanitize("undefined"))) void end_process(const char* how) {
    COROSCOPE("the end");
    if (std::strcmp(how, "abort") == 0) std::abort();
    if (std::strcmp(how, "segv") == 0) *static_cast<volatile int*>(nullptr) = 1;
    if (std::strcmp(how, "_exit") == 0) ::_exit(5);
    if (std::strcmp(how, "quick_exit") == 0) std::quick_exit(6);
    if (std::strcmp(how, "throw") == 0) throw std::runtime_error("through main");
    for (;;) ::pause();
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) return 2;
    auto* const shared = map_progress<program_progress>();
    if (shared == nullptr) return 1;
    program_progress& progress = *shared;
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    const overflow chosen = policy(words[2]);
    const bool small = chosen == overflow::overwrite_oldest;
    profile session{{.output = words[1],
                     .all_threads = true,
                     .policy = chosen,
                     .limit_bytes = small ? std::size_t{64} << 12 : std::size_t{64} << 20,
                     .chunk_bytes = 4096}};
    if (session.status().state != session_state::recording) return 1;
    for (std::size_t at = 1; at < std::size(progress.threads); ++at) {
        const auto work = at == program_progress::coroutines ? run_round : run_step;
        std::thread([&mine = progress.threads[at], work] {
            record_while(mine, work, for_ever);
        }).detach();
    }
    end_time = std::chrono::steady_clock::now() +
               std::chrono::microseconds(std::strtoull(words[4], nullptr, 10));
    progress.ready.store(1);
    const bool waits = std::strcmp(words[3], "kill") == 0;
    record_while(progress.threads[program_progress::main_thread], run_step,
                 waits ? for_ever : until_end);
    end_process(words[3]);
}
