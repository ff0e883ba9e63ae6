// SPDX-License-Identifier: Apache-2.0

// A program that prints the effects of its environment, a word for each. It exits with 10 if it
// gained privileges as it started, else with 0.

#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <sys/auxv.h>

#include <coroscope/async_stack.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/trace/format.hpp>

using namespace coroscope;

namespace {

bool has_crash_handler() {
    struct sigaction found{};
    ::sigaction(SIGSEGV, nullptr, &found);
    return found.sa_handler != SIG_DFL;
}

// Starts a session of its own, which is refused while a session of the environment records.
bool tells_monotonic_time() {
    profile session{{.all_threads = true}};
    const trace::buffer bytes = session.stop();
    trace::file_header header{};
    if (bytes.size() < sizeof header) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header.clock == trace::clock_source::monotonic_ns;
}

task<void> fails() {
    throw std::runtime_error("as it should");
    co_return;
}

}  // namespace

int main() {
    if (live_tasks().tracked) std::puts("live");
    if (has_crash_handler()) std::puts("crash");
    if (tells_monotonic_time()) std::puts("monotonic");
    try {
        sync_wait(fails());
    } catch (const std::runtime_error& failure) {  // the environment may ask for a report of it
        std::printf("caught: %s\n", failure.what());
    }
    return ::getauxval(AT_SECURE) != 0 ? 10 : 0;
}
