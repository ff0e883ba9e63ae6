// SPDX-License-Identifier: Apache-2.0

// states_program: records all threads for a moment, and exits with the source of their states; with 100 more if the
// header gives no reason.

#include <chrono>
#include <cstring>
#include <thread>

#include <coroscope/macro.hpp>
#include <coroscope/profile.hpp>
#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/file_header.hpp>

int main() {
    coroscope::profile session({.all_threads = true});
    {
        COROSCOPE("scope");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const coroscope::trace::buffer recorded = session.stop();
    coroscope::trace::file_header header;
    if (recorded.size() < sizeof header) return 99;
    std::memcpy(&header, recorded.data(), sizeof header);
    const int source = static_cast<int>(header.thread_states);
    return header.thread_states_message[0] == '\0' ? source + 100 : source;
}
