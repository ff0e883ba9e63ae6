// SPDX-License-Identifier: Apache-2.0

// After a kill the trace holds each fact of a thread, except for the one that the thread was
// writing. All facts of the kernel in the trace are whole.
//
// COROSCOPE_CRASH_MOMENTS and COROSCOPE_CRASH_SEED are as for test_crash.

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "../kernel/kernel_facts.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"
#include "shared_progress.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::int64_t longest_run_ns = 60'000'000'000;

struct tally {
    std::uint64_t values = 0;
    std::uint64_t waits = 0;
    std::uint64_t requests = 0;
    std::uint64_t switches = 0;
    std::uint64_t times = 0;
    bool has_switches = false;

    [[nodiscard]] bool has_all() const {
        return values != 0 && requests != 0 && (switches != 0 || !has_switches);
    }
};

void run_and_kill(const scratch_file& file, const std::string& policy,
                  const shared_progress<facts_progress>& progress, unsigned microseconds) {
    const pid_t child = start_program({file.path(), policy}, {}, "/dev/null");
    int status = 0;
    while (progress->ready.load() == 0) {
        REQUIRE(::waitpid(child, &status, WNOHANG) == 0);
        ::usleep(100);
    }
    ::usleep(microseconds);
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, &status, 0) == child);
}

std::vector<double> values_of_thread(const analysis::trace& loaded, std::uint64_t os_id) {
    std::vector<double> numbers;
    for (const analysis::value_info& each : loaded.values)
        if (each.thread != analysis::none && loaded.threads[each.thread].os_id == os_id)
            numbers.push_back(each.number);
    return numbers;
}

// Checks that the numbers increase by one. The last number must be that of the last value that the
// thread counted, or the next one.
void check_values(const std::vector<double>& numbers, std::uint64_t done, bool are_all) {
    CAPTURE(done);
    if (numbers.empty()) {
        CHECK((!are_all || done == 0));
        return;
    }
    if (are_all) CHECK(numbers.front() == 0);
    for (std::size_t at = 1; at < numbers.size(); ++at) {
        if (are_all && numbers[at] != numbers[at - 1] + 1) FAIL_CHECK("a value is missing");
        if (numbers[at] <= numbers[at - 1]) FAIL_CHECK("a value is out of order");
    }
    CHECK(numbers.back() + 1 >= static_cast<double>(done));
    CHECK(numbers.back() <= static_cast<double>(done));
}

void check_kernel_facts(const kernel_facts& facts, tally& all) {
    const std::int64_t start_ns = facts.header.start.monotonic_ns;
    const auto is_sound = [start_ns](std::int64_t time_ns) {
        return time_ns >= start_ns - longest_run_ns && time_ns <= start_ns + longest_run_ns;
    };
    for (const auto& [thread, switches] : facts.switches) {
        CHECK(thread != 0);
        all.switches += switches.size();
        for (const switch_fact& each : switches)
            if (!is_sound(each.time_ns)) FAIL_CHECK("a switch has no time");
    }
    for (const auto& [thread, times] : facts.times) {
        CHECK(thread != 0);
        all.times += times.size();
        for (const times_fact& each : times)
            if (!is_sound(each.time_ns)) FAIL_CHECK("sums of a thread have no time");
    }
    all.has_switches |= facts.source() == trace::thread_state_source::switches;
}

void check_trace(const scratch_file& file, bool are_all, const facts_progress& progress,
                 tally& all) {
    check_kernel_facts(facts_of(std::string(file.path())), all);
    const analysis::trace loaded = load(std::string(file.path()));
    CHECK_FALSE(loaded.health.finished);
    CHECK(loaded.health.damaged_chunks == 0);
    CHECK(loaded.health.warnings.empty());
    for (const thread_progress& each : progress.threads) {
        const std::vector<double> numbers = values_of_thread(loaded, each.os_id.load());
        check_values(numbers, each.done.load(), are_all);
        all.values += numbers.size();
    }
    all.waits += loaded.resource_waits.size();
    all.requests += loaded.requests.size();
}

}  // namespace

TEST_SUITE("crash") {
    TEST_CASE("SIGKILL while facts and switches are recorded leaves whole facts") {
        const std::uint64_t moments = crash_setting("COROSCOPE_CRASH_MOMENTS", 24);
        const std::uint64_t seed = crash_setting("COROSCOPE_CRASH_SEED", 20);
        crash_moments all_moments(moments, seed, 30'000);
        tally all;
        for (std::uint64_t moment = 0; all_moments.has(moment, all.has_all()); ++moment) {
            const scratch_file file;
            const shared_progress<facts_progress> progress;
            const bool drops = moment % 2 == 0;
            CAPTURE(seed);
            CAPTURE(moment);
            run_and_kill(file, drops ? "drop" : "overwrite", progress, all_moments.next(moment));
            check_trace(file, drops, *progress, all);
        }
        CHECK(all.values > 0);
        CHECK(all.requests > 0);
        CHECK((all.switches > 0 || !all.has_switches));
        MESSAGE(moments << " moments (seed " << seed << "): " << all.values << " values, "
                        << all.requests << " requests, " << all.waits << " waits, " << all.switches
                        << " switches, " << all.times << " sums of threads found");
    }
}
