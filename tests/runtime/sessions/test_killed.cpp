// SPDX-License-Identifier: Apache-2.0

// The file of a killed process holds little more than its records: the begun chunk of each thread,
// the reserve for its rate of recording, and a megabyte.

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>

#include <coroscope/trace/reader.hpp>
#include <unistd.h>

#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"
#include "killed_program.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr std::uint64_t usual_chunk_bytes = 32768;

constexpr std::uint64_t chunks_of(std::uint64_t bytes) { return bytes / usual_chunk_bytes; }

std::uint64_t processors() {
    return static_cast<std::uint64_t>(std::clamp(::sysconf(_SC_NPROCESSORS_ONLN), 1L, 4L));
}

struct left_file {
    std::uint64_t bytes = 0;        // the file's size
    std::uint64_t used_chunks = 0;  // the chunks with records or names
};

left_file leave_file(std::uint64_t bytes, unsigned threads, std::uint64_t burst) {
    const scratch_file file;
    const program_end end = run_program(
        {file.path(), std::to_string(bytes), std::to_string(threads), std::to_string(burst)}, {},
        KILLED_PROGRAM);
    REQUIRE(end.signal() == SIGKILL);
    const auto read = trace::reader::open(file.path());
    REQUIRE(read);
    return {std::filesystem::file_size(file.path()), read->chunks().size()};
}

// `burst_chunks` is the most chunks that the threads can open within one of the helper's longest
// sleeps.
std::uint64_t most_bytes(const left_file& left, unsigned threads, std::uint64_t burst_chunks) {
    constexpr std::uint64_t least = 4, spare = 1;
    const std::uint64_t ahead =
        std::min({processors() * chunks_of(8 * megabyte), left.used_chunks, 4 * burst_chunks});
    const std::uint64_t reserve =
        least + spare + ahead + 2 * std::min<std::uint64_t>(threads, processors());
    return trace::file_header_bytes + sizeof(trace::end_mark) +
           (left.used_chunks + reserve) * usual_chunk_bytes + megabyte;
}

void check_size(const left_file& left, unsigned threads, std::uint64_t burst_chunks) {
    const std::uint64_t bound = most_bytes(left, threads, burst_chunks);
    CAPTURE(left.used_chunks);
    CHECK(left.bytes <= bound);
}

constexpr std::uint64_t any_number = UINT64_MAX / 4;

}  // namespace

TEST_SUITE("killed") {
    TEST_CASE("the file of a killed process holds its records and a bounded reserve, for each "
              "amount of records") {
        for (const unsigned threads : {1U, 4U})
            for (const std::uint64_t megabytes : {0U, 1U, 5U, 20U, 80U}) {
                CAPTURE(threads);
                CAPTURE(megabytes);
                check_size(leave_file(megabytes * megabyte, threads, 0), threads, any_number);
            }
    }

    TEST_CASE("a slow program leaves a small reserve") {
        constexpr std::uint64_t burst = 4 * usual_chunk_bytes;
        // A span of one sleep has at most one burst, and a longer span at most twice its share.
        const std::uint64_t burst_chunks = 2 * (chunks_of(burst) + 1);
        for (const std::uint64_t bursts : {16U, 48U}) {
            CAPTURE(bursts);
            left_file left = leave_file(bursts * burst, 1, burst);
            // A helper that loses its processor between two readings measures a faster program.
            for (int tries = 1; tries < 5 && left.bytes > most_bytes(left, 1, burst_chunks);
                 ++tries)
                left = leave_file(bursts * burst, 1, burst);
            check_size(left, 1, burst_chunks);
        }
    }
}
