// SPDX-License-Identifier: Apache-2.0

// A program whose trace is cut while threads hold chunks of it: cut_program FILE LIMIT STEPS
//
// The cut comes after STEPS steps. Prints the number of lost records from the session's status, one
// line for each moment.

#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <thread>

#include <coroscope/profile.hpp>

#include <unistd.h>

#include "../support/helper_turns.hpp"
#include "../support/session_steps.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

void print_lost(const char* moment, const profile& session) {
    std::printf("%s: %llu\n", moment,
                static_cast<unsigned long long>(session.status().lost_records));
}

}  // namespace

int main(int, char** words) {
    profile session{{.output = words[1],
                     .all_threads = true,
                     .limit_bytes = std::strtoull(words[2], nullptr, 10)}};
    std::binary_semaphore begun(0);
    std::binary_semaphore cut(0);
    std::thread other([&] {
        steps(10);
        begun.release();
        cut.acquire();
        steps(20);
    });
    begun.acquire();
    steps(std::strtoull(words[3], nullptr, 10));
    await_room(words[1]);
    print_lost("before", session);
    if (::truncate(words[1], 8192) != 0) return 9;
    await_error(session);
    print_lost("told of", session);
    steps(1);
    print_lost("one step later", session);
    steps(100'000);
    print_lost("100,000 later", session);
    cut.release();
    other.join();
    print_lost("20 of another thread later", session);
    std::thread([] { steps(3000); }).join();
    print_lost("3,000 of a new thread later", session);
    session.stop();
    print_lost("stopped", session);
    return 0;
}
