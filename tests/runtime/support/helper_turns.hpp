// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waits for the thread of a session that grows, seals and watches its trace.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <coroscope/profile.hpp>

namespace coroscope::test {

/// The number of times that the helper has gone to sleep, which it does at the end of each turn.
/// None if the system does not tell.
inline std::optional<std::uint64_t> helper_sleeps() {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(thread.path() / "status");
        std::string word;
        std::string name;
        if (!(status >> word >> name) || name != "coroscope") continue;
        while (status >> word && word != "voluntary_ctxt_switches:") {
        }
        std::uint64_t sleeps = 0;
        if (status >> sleeps) return sleeps;
    }
    return std::nullopt;
}

/// Waits until the helper has taken some turns, or a minute.
inline void await_helper_turns() {
    constexpr std::uint64_t turns = 3;
    constexpr int most_looks = 3000;
    const std::optional<std::uint64_t> before = helper_sleeps();
    for (int look = 0; look < most_looks; ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const std::optional<std::uint64_t> now = helper_sleeps();
        if (!before || !now || *now >= *before + turns) return;
    }
}

/// Waits until the recorder has room ahead and the file grows no more.
inline void await_room(const char* path) {
    std::uintmax_t before = 0;
    for (std::uintmax_t now = 1; now != before; now = std::filesystem::file_size(path)) {
        before = now;
        await_helper_turns();
    }
}

/// Waits up to a minute for an error in the session's status.
inline void await_error(const profile& session) {
    for (int ms = 0; ms < 60'000 && session.status().error_number == 0; ++ms)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace coroscope::test
