// SPDX-License-Identifier: Apache-2.0

// However a process ends, its trace holds every record but, per thread, the one that was being written.
//
// COROSCOPE_CRASH_MOMENTS says at how many moments each ending is tried, COROSCOPE_CRASH_SEED which these are;
// `./dev test --crash 1000` sets both.

#include <algorithm>
#include <csignal>
#include <new>
#include <random>

#include <sys/mman.h>

#include "crash_program.hpp"
#include "crash_records.hpp"
#include "program_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t chunk_records = 252;
// Under overwrite: whoever needs a chunk empties the oldest. One that is ended before it comes to that leaves
// it standing, while another has emptied the next.
constexpr std::uint64_t oldest_chunks = std::size(program_progress{}.threads);

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

std::uint64_t setting(const char* variable, std::uint64_t usual) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

struct ending {
    const char* name;  // as crash_program has it; it waits for its kill
    int signal;        // that ends it, or 0
    int exit_code;
};

// Runs the program until it ends that long after it began to record.
void run_to_its_end(const scratch_file& file, const std::string& policy, const ending& how,
                    const shared_progress& progress, unsigned microseconds) {
    const bool killed = how.signal == SIGKILL;
    // A sanitizer would make a report of a crash, while the other threads record for seconds on end.
    const pid_t child =
        start_program({file.path(), policy, how.name, std::to_string(microseconds)},
                      {{"ASAN_OPTIONS", "handle_segv=0"}, {"TSAN_OPTIONS", "handle_segv=0"}},
                      "/dev/null", CRASH_PROGRAM);
    int status = 0;
    if (killed) {
        while (progress->ready.load() == 0) {
            REQUIRE(::waitpid(child, &status, WNOHANG) == 0);
            ::usleep(100);
        }
        ::usleep(microseconds);
        ::kill(child, SIGKILL);
    }
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(progress->ready.load() == 1);
    if (how.signal == 0) {
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == how.exit_code);
    } else if (WIFSIGNALED(status)) {  // a sanitizer may make an exit of it
        CHECK(WTERMSIG(status) == how.signal);
    } else {
        CHECK(WEXITSTATUS(status) != 0);
    }
}

struct recorded {
    std::string steps;    // their digits
    std::string letters;  // of all records; where these are steps only, their digits
    std::uint64_t restated = 0;
    std::uint64_t dropped = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t lost() const { return dropped + overwritten; }
};

recorded find_thread(const analysis::trace& trace, const std::string& path, std::uint64_t os_id,
                     bool coroutines) {
    const std::vector<std::string> digits = steps_by_thread(trace);
    for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
        const analysis::thread_info& thread = trace.threads[i];
        if (thread.os_id != os_id) continue;
        recorded found{digits[i], digits[i], 0, thread.dropped_newest, thread.overwritten};
        if (!coroutines) return found;
        const written_records written = records_of_thread(path, thread.id);
        found.letters = written.letters;
        found.restated = written.restated;
        return found;
    }
    return {};
}

struct tally {
    std::uint64_t records = 0;
    std::uint64_t transitions = 0;  // among them, of tasks
    std::uint64_t lost = 0;         // and counted in the trace
    std::uint64_t ahead = 0;  // threads that had recorded what they did not come to say any more
};

// Between what a thread said it had done and what its trace holds there is at most one record.
void check_count(const recorded& found, std::uint64_t done, const std::string& policy,
                 bool coroutines) {
    const std::uint64_t there = found.letters.size();
    if (policy != "overwrite" || found.lost() == 0) {
        CHECK(there + found.lost() >= done);
        CHECK(there + found.lost() <= done + 1);
        return;
    }
    CHECK(there + found.restated + found.lost() >= done);
    // Records of a chunk that is being overwritten may be counted while they stand there. Who told of tasks once more, and
    // has lost that, too, has lost more than it had done.
    if (!coroutines) CHECK(there + found.lost() <= done + 1 + chunk_records);
}

// What is there is what the thread recorded last, each record in its place.
void check_order(const recorded& found, std::uint64_t done, std::string_view word) {
    if (found.lost() == 0) {
        CHECK(wrong_until(found.letters, word, found.letters.size()) == 0);
        CHECK(is_whole_sequence(found.steps));
    }
    if (found.dropped != 0) return;
    CHECK(std::min(wrong_until(found.letters, word, done),
                   wrong_until(found.letters, word, done + 1)) <= oldest_chunks * chunk_records);
}

void check_thread(const recorded& found, std::uint64_t done, const std::string& policy,
                  bool coroutines, tally& all) {
    CAPTURE(found.dropped);
    CAPTURE(found.overwritten);
    CAPTURE(done);
    check_count(found, done, policy, coroutines);
    check_order(found, done, coroutines ? round_records : step_records);
    all.records += found.letters.size();
    for (const char letter : found.letters)
        all.transitions +=
            std::string_view("srutfF").find(letter) != std::string_view::npos ? 1U : 0U;
    all.lost += found.lost();
    all.ahead += found.letters.size() > done ? 1U : 0U;
}

void check_trace(const scratch_file& file, const std::string& policy,
                 const program_progress& progress, tally& all) {
    const analysis::trace trace = load(std::string(file.path()));
    CHECK_FALSE(trace.health.finished);
    for (const thread_progress& thread : progress.threads) {
        const auto number = static_cast<std::size_t>(&thread - progress.threads);
        const bool coroutines = number == program_progress::coroutines;
        CAPTURE(number);
        check_thread(find_thread(trace, file.path(), thread.os_id.load(), coroutines),
                     thread.done.load(), policy, coroutines, all);
    }
}

void end_and_check(const ending& how) {
    const std::uint64_t moments = setting("COROSCOPE_CRASH_MOMENTS", 24);
    const std::uint64_t seed = setting("COROSCOPE_CRASH_SEED", 20);
    std::mt19937_64 random(seed);
    const std::string policies[] = {"drop", "wait", "overwrite"};
    tally all;
    for (std::uint64_t moment = 0; moment < moments; ++moment) {
        const scratch_file file;
        const shared_progress progress;
        const std::string& policy = policies[moment % std::size(policies)];
        CAPTURE(seed);
        CAPTURE(moment);
        CAPTURE(policy);
        run_to_its_end(file, policy, how, progress, static_cast<unsigned>(random() % 6000));
        check_trace(file, policy, *progress, all);
    }
    CHECK(all.records > 0);
    MESSAGE(std::string(how.name) << ": " << moments << " moments (seed " << seed << "), "
                                  << all.records << " records found, " << all.transitions
                                  << " of them transitions of tasks, " << all.ahead
                                  << " threads one ahead of what they said, " << all.lost
                                  << " lost and counted");
}

}  // namespace

TEST_SUITE("crash") {
    TEST_CASE("SIGKILL leaves every record but the one being written") {
        end_and_check({"kill", SIGKILL, 0});
    }
    TEST_CASE("abort leaves every record but the one being written") {
        end_and_check({"abort", SIGABRT, 0});
    }
    TEST_CASE("SIGSEGV in the program's code leaves every record but the one being written") {
        end_and_check({"segv", SIGSEGV, 0});
    }
    TEST_CASE("_exit leaves every record but the one being written") {
        end_and_check({"_exit", 0, 5});
    }
    TEST_CASE("quick_exit leaves every record but the one being written") {
        end_and_check({"quick_exit", 0, 6});
    }
    TEST_CASE("an exception through main leaves every record but the one being written") {
        end_and_check({"throw", SIGABRT, 0});
    }
}
