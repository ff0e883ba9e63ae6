// SPDX-License-Identifier: Apache-2.0
#pragma once

// A session with many records: its trace, and the growth of the process's memory meanwhile.

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

#include <coroscope/profile.hpp>
#include <coroscope/trace/buffer.hpp>
#include <doctest/doctest.h>

#include "build.hpp"
#include "scale.hpp"

namespace coroscope::test {

inline constexpr std::uint64_t mebibyte = 1U << 20;

template <class Work>
void on_threads(std::size_t count, Work work) {
    std::vector<std::thread> threads;
    for (std::size_t each = 0; each < count; ++each) threads.emplace_back(work);
    for (std::thread& each : threads) each.join();
}

class temporary_file {
public:
    temporary_file()
        : path_((std::filesystem::temp_directory_path() / "coroscope-scale.").string() +
                std::to_string(::getpid())) {}
    ~temporary_file() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

struct long_life {
    std::uint64_t resident_growth = 0;  ///< bytes after the first tenth of the rounds
    session_status status{};
    trace::buffer bytes{};
};

/// Two threads call `work(count)` a hundred times each, with `amount` as the total of all counts.
/// The memory is measured after each round.
template <class Work>
long_life live_long(const profile_options& options, std::uint64_t amount, const char* of_what,
                    Work work) {
    constexpr std::uint64_t rounds = 100;
    constexpr unsigned threads = 2;
    profile session(options);
    REQUIRE(session.status().state == session_state::recording);
    std::uint64_t warm = 0;
    std::uint64_t most = 0;
    std::uint64_t round = 0;
    std::barrier all_there(threads, [&]() noexcept {
        const std::uint64_t now = resident_bytes();
        if (++round == rounds / 10) warm = now;
        if (round > rounds / 10 && now > most) most = now;
    });
    on_threads(threads, [&] {
        for (std::uint64_t each = 0; each < rounds; ++each) {
            work(amount / rounds / threads);
            all_there.arrive_and_wait();
        }
    });
    long_life result;
    result.resident_growth = most > warm ? most - warm : 0;
    result.bytes = session.stop();
    result.status = session.status();
    MESSAGE(amount << " " << std::string(of_what) << ", " << result.status.lost_records
                   << " of their records lost, " << (result.resident_growth >> 10)
                   << " KiB more in memory than after a tenth");
    return result;
}

/// Neither the process's memory nor the trace grew, except for the part of the trace that was not
/// made yet after a tenth of the rounds: that part depends on the helper's turns.
inline void check_stayed_flat(const long_life& life, std::uint64_t trace_bytes,
                              std::uint64_t limit) {
    CHECK(trace_bytes <= limit);
    if (!sanitized && !under_valgrind()) CHECK(life.resident_growth < limit + 2 * mebibyte);
}

}  // namespace coroscope::test
