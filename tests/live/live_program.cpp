// SPDX-License-Identifier: Apache-2.0

// A program whose live tasks another program reads: tests stop it, or dump its core.
//
//   live_program wait    makes the tasks below, prints "ready" and waits for the end of its input
//   live_program fail    lets an exception leave two tasks, catches it and prints "caught"

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include <coroscope/coroscope.hpp>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/foreign.hpp"

namespace {

using coroscope::task;
using coroscope::test::slot;
using coroscope::test::suspend_into;
using manual_task = foreign::manual<foreign::declared>;

task<int> reads_rows(slot& place) {
    co_await COROSCOPE_AWAIT("read rows", suspend_into(place));
    co_return 1;
}

task<int> answers(slot& place) { co_return co_await reads_rows(place); }

manual_task serves(slot& place) { co_await answers(place); }

manual_task never_starts() { co_return; }

manual_task blocks_its_thread() {
    while (std::getchar() != EOF) {
    }
    co_return;
}

int wait_for_input() {
    slot place;
    auto server = serves(place);
    server.resume();
    const auto spawned = never_starts();
    auto blocked = blocks_its_thread();
    std::puts("ready");
    std::fflush(stdout);
    std::thread([&blocked] { blocked.resume(); }).join();
    place.resume();
    return server.done() ? 0 : 1;
}

task<int> fails() {
    throw std::runtime_error("no such row");
    co_return 0;
}

task<int> asks_it() { co_return co_await fails(); }

int let_one_fail() {
    try {
        coroscope::sync_wait(asks_it());
    } catch (const std::exception&) {
        std::puts("caught");
    }
    return 0;
}

}  // namespace

int main(int count, char** words) {
    const char* command = count > 1 ? words[1] : "";
    if (std::strcmp(command, "wait") == 0) return wait_for_input();
    if (std::strcmp(command, "fail") == 0) return let_one_fail();
    return 2;
}
