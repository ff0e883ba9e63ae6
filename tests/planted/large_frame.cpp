// SPDX-License-Identifier: Apache-2.0

// A coroutine keeps a large buffer in its frame while it waits.

#include <array>

#include <coroscope/task.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::large_frame {
namespace {

coroscope::task<int> half(int of) { co_return of / 2; }

coroscope::task<int> unpack(int number) {
    COROSCOPE("unpack");
    std::array<char, 64 * 1024> buffer{};
    buffer[static_cast<std::size_t>(number)] = 1;
    const int read = co_await half(number);
    co_return buffer[static_cast<std::size_t>(read)] + read;
}

coroscope::task<> answer(int number) {
    COROSCOPE_REQUEST("GET /archive");
    compute_for(100us);
    co_await unpack(number);
}

}  // namespace

void run() {
    for (int number = 0; number < requests; ++number) coroscope::sync_wait(answer(number));
}

}  // namespace planted::large_frame
