// SPDX-License-Identifier: Apache-2.0

// The program whose probes test_usdt.py counts. `usdt_program code` switches the probes on itself,
// `usdt_program` leaves that to the environment.

#include <coroscope/coroscope.hpp>
#include <coroscope/integration/usdt.hpp>

#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

namespace {

coroscope::task<int> reads_row(int row) {
    COROSCOPE("read row");
    co_return row;
}

coroscope::task<int> answers() {
    int sum = 0;
    for (int row = 0; row < 5; ++row) sum += co_await reads_row(row);
    co_return sum;
}

void run() {
    for (int each = 0; each < 7; ++each) {
        COROSCOPE("on stack");
    }
    std::thread([] { COROSCOPE("on another thread"); }).join();
    std::printf("%d\n", coroscope::sync_wait(answers()));
}

}  // namespace

int main(int count, char** words) {
    std::optional<coroscope::emit_usdt> emit;
    if (count > 1 && std::strcmp(words[1], "code") == 0) emit.emplace();
    run();
    emit.reset();
    if (count > 1) run();  // with probes off: no probe is reached
}
