// SPDX-License-Identifier: Apache-2.0

// The smallest program that records itself: two coroutines, three scopes, one trace.

#include <coroscope/coroscope.hpp>

#include <cstdio>

namespace {

coroscope::task<int> load(int key) {
    COROSCOPE_FUNCTION();
    co_return key * 2;
}

coroscope::task<int> handle(int key) {
    COROSCOPE_FUNCTION();
    const int row = co_await COROSCOPE_AWAIT("db.query", load(key));
    COROSCOPE("render");
    co_return row + 1;
}

}  // namespace

int main() {
    const coroscope::profile session({.output = "hello.cst", .all_threads = true});
    const coroscope::session_status status = session.status();
    if (status.state == coroscope::session_state::recording)
        std::puts("recording into hello.cst");
    else
        std::printf("nothing is recorded: %s\n", status.message);
    return coroscope::sync_wait(handle(20)) == 41 ? 0 : 1;
}
