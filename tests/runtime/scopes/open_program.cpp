// SPDX-License-Identifier: Apache-2.0

// A program that dies within scopes: open_program kill|abort|unasked FILE, or open_program
// environment. The session of "environment" is started by the environment. The session of "unasked"
// does not ask for open scopes.

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include <unistd.h>

#include <coroscope/coroscope.hpp>

namespace {

void parse() { COROSCOPE("parse"); }

[[noreturn]] void die(bool by_abort) {
    COROSCOPE("lock that never comes");
    if (by_abort) std::abort();
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
}

void handle(int request, bool by_abort) {
    COROSCOPE("handle request");
    parse();
    if (request == 20) die(by_abort);
}

}  // namespace

int main(int count, char** words) {
    const bool by_abort = std::strcmp(words[1], "abort") == 0;
    const bool asks = std::strcmp(words[1], "unasked") != 0;
    std::optional<coroscope::profile> session;
    if (count > 2)
        session.emplace(coroscope::profile_options{.output = words[2],
                                                   .all_threads = true,
                                                   .limit_bytes = 8U << 20,
                                                   .crash_report = by_abort ? 2 : -1,
                                                   .open_scopes = asks});
    std::atomic<bool> other_is_open{false};
    std::thread other;
    if (by_abort) {
        other = std::thread([&other_is_open] {
            COROSCOPE("of another thread");
            other_is_open = true;
            for (;;) ::pause();
        });
        while (!other_is_open) std::this_thread::yield();
    }
    COROSCOPE("main loop");
    for (int request = 0; request < 100; ++request) handle(request, by_abort);
}
