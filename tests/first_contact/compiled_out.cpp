// SPDX-License-Identifier: Apache-2.0

// A program that is compiled with COROSCOPE_ENABLED=0 and linked without the library. It prints the
// reason for which nothing is recorded.

#include <coroscope/coroscope.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
coroscope::task<int> load(int key) {
    COROSCOPE_FUNCTION();
    COROSCOPE_ARGS("load", key);
    co_return key * 2;
}
coroscope::task<int> handle(int key) {
    const coroscope::attribute tenant("tenant", "north");
    COROSCOPE_REQUEST("GET /item", std::chrono::milliseconds(50));
    COROSCOPE_VALUE("queue.length", key);
    const coroscope::record_function named(std::string("made at run time"));
    const coroscope::request inner("inner");
    const int row = co_await COROSCOPE_AWAIT("db.query", load(key));
    COROSCOPE("render");
    co_return row + 1;
}
int main() {
    const coroscope::profile session({.output = "trace.cst", .all_threads = true});
    coroscope::scheduled_profile scheduled({.all_threads = true});
    scheduled.start();
    scheduled.step();
    scheduled.stop();
    if (session.status().state != coroscope::session_state::disabled) return 1;
    if (scheduled.status().state != coroscope::session_state::disabled) return 2;
    std::puts(session.status().message);
    return coroscope::sync_wait(handle(20)) == 41 ? 0 : 1;
}
