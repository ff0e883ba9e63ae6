// SPDX-License-Identifier: Apache-2.0

// After any end of a process its trace holds every record, except for the record that each thread
// was writing.
//
// COROSCOPE_CRASH_MOMENTS is the number of moments at which each ending is tried,
// COROSCOPE_CRASH_SEED selects them. `./dev test --crash 1000` sets both.

#include <algorithm>
#include <csignal>

#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"
#include "crash_program.hpp"
#include "crash_records.hpp"
#include "shared_progress.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint64_t chunk_records = 252;
// With the policy overwrite a thread that needs a chunk empties the oldest one. A thread that ends
// before it empties its chunk leaves the records in it, although another thread has emptied the
// next chunk.
constexpr std::uint64_t oldest_chunks = std::size(program_progress{}.threads);

struct ending {
    const char* name;  // of crash_program
    int signal;        // of the end, or 0
    int exit_code;
};

// Runs the program, which ends `microseconds` after it began to record.
void run_to_its_end(const scratch_file& file, const std::string& policy, const ending& how,
                    const shared_progress<program_progress>& progress, unsigned microseconds) {
    const bool killed = how.signal == SIGKILL;
    // A sanitizer's report of a crash takes seconds, during which the other threads record.
    // ThreadSanitizer waits for a second in _exit().
    const pid_t child = start_program(
        {file.path(), policy, how.name, std::to_string(microseconds)},
        {{"ASAN_OPTIONS", "handle_segv=0"}, {"TSAN_OPTIONS", "handle_segv=0:atexit_sleep_ms=0"}},
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
    } else if (WIFSIGNALED(status)) {  // a sanitizer may exit instead
        CHECK(WTERMSIG(status) == how.signal);
    } else {
        CHECK(WEXITSTATUS(status) != 0);
    }
}

struct recorded {
    std::string steps;    // the digits of the steps
    std::string letters;  // of all records; of a thread of plain scopes the digits
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
    std::uint64_t transitions = 0;  // the transitions of tasks among them
    std::uint64_t lost = 0;         // the lost records that the trace counts
    std::uint64_t ahead = 0;        // threads that ended between a record and its count
};

// The trace holds or counts at most one record more than the thread had counted.
void check_count(const recorded& found, std::uint64_t done, const std::string& policy,
                 bool coroutines) {
    const std::uint64_t there = found.letters.size();
    if (policy != "overwrite" || found.lost() == 0) {
        CHECK(there + found.lost() >= done);
        CHECK(there + found.lost() <= done + 1);
        return;
    }
    CHECK(there + found.restated + found.lost() >= done);
    // While a chunk is being overwritten, its records may be counted as lost and still be in it. A
    // thread that records tasks once more may lose these records, too, and then loses more records
    // than it had counted.
    if (!coroutines) CHECK(there + found.lost() <= done + 1 + chunk_records);
}

// The trace has the last records of the thread, in their order.
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
    const std::uint64_t moments = crash_setting("COROSCOPE_CRASH_MOMENTS", 24);
    const std::uint64_t seed = crash_setting("COROSCOPE_CRASH_SEED", 20);
    crash_moments all_moments(moments, seed, 6000);
    const std::string policies[] = {"drop", "wait", "overwrite"};
    tally all;
    for (std::uint64_t moment = 0; all_moments.has(moment, all.records != 0); ++moment) {
        const scratch_file file;
        const shared_progress<program_progress> progress;
        const std::string& policy = policies[moment % std::size(policies)];
        CAPTURE(seed);
        CAPTURE(moment);
        CAPTURE(policy);
        run_to_its_end(file, policy, how, progress, all_moments.next(moment));
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
