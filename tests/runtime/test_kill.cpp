// SPDX-License-Identifier: Apache-2.0

// A process that is killed leaves a trace of everything but the record that it was writing.

#include <csignal>
#include <new>
#include <random>

#include <sys/mman.h>

#include "program_runs.hpp"
#include "session_program.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// The memory in which the program says how far it is, and which outlives it.
class shared_progress {
public:
    shared_progress() : file_(::memfd_create("progress", 0)) {
        REQUIRE(file_ >= 0);
        REQUIRE(::ftruncate(file_, sizeof(program_progress)) == 0);
        REQUIRE(::dup2(file_, progress_descriptor) == progress_descriptor);
        void* at =
            ::mmap(nullptr, sizeof(program_progress), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        REQUIRE(at != MAP_FAILED);
        progress_ = new (at) program_progress;
    }
    shared_progress(const shared_progress&) = delete;
    shared_progress& operator=(const shared_progress&) = delete;
    ~shared_progress() {
        ::munmap(static_cast<void*>(progress_), sizeof(program_progress));
        ::close(progress_descriptor);
        ::close(file_);
    }
    program_progress& operator*() const { return *progress_; }
    program_progress* operator->() const { return progress_; }

private:
    int file_;
    program_progress* progress_;
};

// Runs the program and kills it after `microseconds` of recording.
void run_and_kill(const scratch_file& file, const std::string& policy,
                  const shared_progress& progress, useconds_t microseconds) {
    const pid_t child = start_program({"sequences", file.path(), policy}, {}, "/dev/null");
    int status = 0;
    while (progress->ready.load() == 0) {
        REQUIRE(::waitpid(child, &status, WNOHANG) == 0);
        ::usleep(100);
    }
    ::usleep(microseconds);
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
}

struct recorded {
    std::string digits;
    std::uint64_t lost = 0;
};

recorded find_thread(const analysis::trace& trace, const std::vector<std::string>& digits,
                     std::uint64_t os_id) {
    for (std::size_t i = 0; i < trace.threads.size(); ++i)
        if (trace.threads[i].os_id == os_id)
            return {digits[i], trace.threads[i].dropped_newest + trace.threads[i].overwritten};
    return {};
}

// Between what each thread said it had done and what its trace holds there is at most one record.
void kill_and_check(const std::string& policy, int runs) {
    std::mt19937 random(20);
    std::uint64_t all = 0;
    constexpr std::uint64_t chunk_records = 252;
    for (int run = 0; run < runs; ++run) {
        const scratch_file file;
        const shared_progress progress;
        run_and_kill(file, policy, progress, static_cast<useconds_t>(random() % 8000));
        const analysis::trace trace = load(std::string(file.path()));
        CHECK_FALSE(trace.health.finished);
        CHECK(trace.health.damaged_chunks == 0);
        const std::vector<std::string> digits = steps_by_thread(trace);
        for (const thread_progress& thread : progress->threads) {
            const recorded found = find_thread(trace, digits, thread.os_id.load());
            const std::uint64_t done = thread.done.load();
            CAPTURE(policy);
            CAPTURE(run);
            CHECK(found.digits.size() + found.lost >= done);
            // Records of a chunk that is being overwritten may be counted while they stand there.
            CHECK(found.digits.size() + found.lost <=
                  done + 1 + (policy == "overwrite" ? chunk_records : 0));
            if (policy == "overwrite")
                CHECK(is_sequence(found.digits));
            else if (found.lost == 0)
                CHECK(is_whole_sequence(found.digits));
            all += found.digits.size();
        }
    }
    CHECK(all > 0);
}

}  // namespace

TEST_SUITE("kill") {
    TEST_CASE(
        "40 killed processes that drop the newest leave every record but the one being written") {
        kill_and_check("drop", 40);
    }
    TEST_CASE("30 killed processes that wait leave every record but the one being written") {
        kill_and_check("wait", 30);
    }
    TEST_CASE("30 killed processes that overwrite the oldest leave the newest without a gap") {
        kill_and_check("overwrite", 30);
    }
}
