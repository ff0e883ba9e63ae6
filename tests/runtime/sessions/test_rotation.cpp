// SPDX-License-Identifier: Apache-2.0

// Sessions with several files: each file is a whole trace, and together they have every record.

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <coroscope/trace/reader.hpp>
#include <sys/wait.h>

#include "../../support/scratch_file.hpp"
#include "../support/parking.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t file_bytes = std::size_t{1} << 20;
constexpr std::uint32_t small_chunk = 8192;
constexpr auto longest_wait = 5s;  // of a thread, until the next file

/// The files of a series, which are removed at the end.
class series : public scratch_file {
public:
    series() = default;
    series(const series&) = delete;
    series& operator=(const series&) = delete;
    ~series() {
        for (const fs::directory_entry& each : fs::directory_iterator(folder()))
            fs::remove(each.path());
    }

    [[nodiscard]] std::string file(unsigned number) const {
        return folder() + "/trace." + std::to_string(number) + ".cst";
    }
    [[nodiscard]] bool has(unsigned number) const { return fs::exists(file(number)); }

    /// The numbers of its files, which are few and have no gap.
    [[nodiscard]] std::vector<unsigned> numbers() const {
        std::vector<unsigned> found;
        for (unsigned number = 1; number < 2000; ++number)
            if (has(number)) found.push_back(number);
        return found;
    }
};

profile_options rotating(const series& files, std::uint32_t keep = 1000,
                         std::size_t bytes = file_bytes) {
    return {.output = files.path(),
            .all_threads = true,
            .policy = overflow::wait,
            .chunk_bytes = small_chunk,
            .rotate_bytes = bytes,
            .keep_files = keep};
}

// The end of a session cuts the file, so it is not mapped before.
bool is_finished(const std::string& file) {
    trace::file_header header{};
    std::ifstream(file).read(reinterpret_cast<char*>(&header), sizeof header);
    return header.finished == 1;
}

// Records until the session has gone on to file `number`.
void record_until(const series& files, unsigned number) {
    for (int round = 0; round < 100'000 && !files.has(number); ++round) steps(1000);
    REQUIRE(files.has(number));
    for (int wait = 0; wait < 6000; ++wait) {
        if (is_finished(files.file(number - 1))) return;
        std::this_thread::sleep_for(10ms);
    }
    FAIL("the file before is not closed");
}

/// The steps of each thread of the process in all files together, by the kernel's id.
using steps_of_threads = std::map<std::uint64_t, std::string>;

void add_steps(steps_of_threads& all, const analysis::trace& trace) {
    const std::vector<std::string> digits = steps_by_thread(trace);
    for (std::size_t at = 0; at < digits.size(); ++at) all[trace.threads[at].os_id] += digits[at];
}

void crowd(int threads, const std::function<void()>& work) {
    std::vector<std::thread> all;
    all.reserve(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) all.emplace_back(work);
    for (std::thread& each : all) each.join();
}

task<void> across(parking& first, parking& second) {
    COROSCOPE("in the task");
    co_await first;
    co_await second;
}

std::optional<analysis::task_info> find_across(const analysis::trace& trace) {
    for (const analysis::task_info& each : trace.tasks)
        if (trace.sites[each.spawn_site].function.find("across") != std::string::npos) return each;
    return std::nullopt;
}

// The newest file of a killed process may have been made, and not begun: its clock was not read.
bool is_begun(const std::string& file) {
    const auto opened = trace::reader::open(file);
    return opened && opened->header().last.ticks > opened->header().start.ticks;
}

}  // namespace

TEST_SUITE("several files") {
    TEST_CASE("no record of many threads is lost or doubled where one file follows another") {
        constexpr std::uint64_t steps_each = 100'000;
        const series files;
        profile session(rotating(files));
        REQUIRE(session.status().state == session_state::recording);
        const auto begun = std::chrono::steady_clock::now();
        crowd(8, [] { steps(steps_each); });
        const bool may_give_up = std::chrono::steady_clock::now() - begun >= longest_wait;
        session.stop();
        const std::uint64_t lost = session.status().lost_records;
        CHECK((lost == 0 || may_give_up));
        CHECK_FALSE(fs::exists(files.path()));
        const std::vector<unsigned> numbers = files.numbers();
        CHECK(numbers.size() >= 4);
        CHECK(numbers.front() == 1);
        CHECK(numbers.back() == numbers.size());
        steps_of_threads all;
        std::uint64_t counted = 0;
        for (const unsigned number : numbers) {
            const analysis::trace trace = load(files.file(number));
            CHECK(trace.health.finished);
            counted += trace.health.late_records + trace.health.dropped_newest;
            CHECK(fs::file_size(files.file(number)) < 2 * file_bytes + 2 * small_chunk);
            add_steps(all, trace);
        }
        std::uint64_t found = 0;
        for (const auto& [thread, digits] : all) {
            CHECK((is_whole_sequence(digits) || lost != 0));
            found += digits.size();
        }
        CHECK(counted == lost);
        CHECK(found + lost == 8 * steps_each);
    }

    TEST_CASE("records that are dropped are counted in their file and in the session") {
        constexpr std::uint64_t steps_each = 200'000;
        const series files;
        profile_options options = rotating(files);
        options.policy = overflow::drop_newest;
        profile session(options);
        crowd(8, [] { steps(steps_each); });
        session.stop();
        std::uint64_t found = 0;
        std::uint64_t lost = 0;
        for (const unsigned number : files.numbers()) {
            const analysis::trace trace = load(files.file(number));
            found += count_steps(trace);
            lost += trace.health.dropped_newest + trace.health.late_records;
        }
        CHECK(found + lost == 8 * steps_each);
        CHECK(session.status().lost_records == lost);
    }

    TEST_CASE("a scope and a task that span files are in each, and older than the later ones") {
        const series files;
        profile session(rotating(files));
        parking first;
        parking second;
        std::thread awaiting([&] { sync_wait(across(first, second)); });
        {
            COROSCOPE("around everything");
            first.wait();
            record_until(files, 2);
            first.resume();
            record_until(files, 3);
            second.resume();
            record_until(files, 4);
        }
        awaiting.join();
        session.stop();
        CHECK(session.status().lost_records == 0);
        for (const unsigned number : {1U, 2U, 3U}) {
            CAPTURE(number);
            const analysis::trace trace = load(files.file(number));
            const std::optional<analysis::task_info> spanning = find_across(trace);
            REQUIRE(spanning);
            CHECK(spanning->older_than_session == (number != 1));
            CHECK(spanning->end_ns.has_value() == (number == 3));
            CHECK(count(trace, "in the task") == (number == 3 ? 1 : 0));
            CHECK(count(trace, "around everything") == 0);
        }
        const unsigned last = files.numbers().back();
        const analysis::trace trace = load(files.file(last));
        const analysis::event* const around = find(trace, "around everything");
        REQUIRE(around != nullptr);
        CHECK((around->flags & analysis::event_clipped) != 0);
    }

    TEST_CASE("a feature that had data in one file is not said to have none in the next ones") {
        const series files;
        profile_options options = rotating(files);
        options.record_arguments = true;
        options.with_modules = true;
        profile session(options);
        record_until(files, 2);
        {
            COROSCOPE_ARGS("with an argument", 7);
        }
        record_until(files, 4);
        session.stop();
        const std::uint64_t both = trace::feature_arguments | trace::feature_modules;
        CHECK(load(files.file(1)).health.without_data == both);
        CHECK(load(files.file(2)).health.without_data == trace::feature_modules);
        CHECK(load(files.file(3)).health.without_data == trace::feature_modules);
    }

    TEST_CASE("the newest files stay, and a later session goes on behind them") {
        const series files;
        {
            std::ofstream(files.file(1)) << "not a trace";
        }
        unsigned last = 0;
        for (int run = 0; run < 2; ++run) {
            profile session(rotating(files, 3));
            record_until(files, last + 6);
            session.stop();
            const std::vector<unsigned> numbers = files.numbers();
            REQUIRE(numbers.size() == 4);
            CHECK(numbers.front() == 1);  // it is not ours
            CHECK(numbers[1] + 2 == numbers.back());
            CHECK(numbers.back() >= last + 6);
            last = numbers.back();
        }
    }

    TEST_CASE("a session that cannot have several files is refused") {
        const series files;
        const auto refused = [](const profile_options& options) {
            const profile session(options);
            return session.status().state == session_state::refused &&
                   session.status().error_number == EINVAL;
        };
        profile_options options = rotating(files);
        options.policy = overflow::overwrite_oldest;
        CHECK(refused(options));
        options = rotating(files);
        options.all_threads = false;
        CHECK(refused(options));
        options = rotating(files);
        options.output = nullptr;
        CHECK(refused(options));
        CHECK(refused(rotating(files, 1000, file_bytes - 1)));
        CHECK(refused(rotating(files, 0)));
        CHECK(files.numbers().empty());
    }

    TEST_CASE("a process that is killed leaves files that can be read, without a gap") {
        const series files;
        const std::string output = files.folder() + "/output";
        constexpr const char* endless = "100000000000";
        const pid_t child = start_program({files.path(), endless, "4", "64000", "1048576"}, {},
                                          output.c_str(), KILLED_PROGRAM);
        for (int wait = 0; wait < 6000 && !files.has(5); ++wait) std::this_thread::sleep_for(10ms);
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(files.has(5));
        steps_of_threads all;
        unsigned finished = 0;
        const std::vector<unsigned> numbers = files.numbers();
        for (const unsigned number : numbers) {
            if (number == numbers.back() && !is_begun(files.file(number))) continue;
            const analysis::trace trace = load(files.file(number));
            finished += trace.health.finished ? 1 : 0;
            add_steps(all, trace);
        }
        CHECK(finished < numbers.size());
        CHECK(all.size() >= 4);
        for (const auto& [thread, digits] : all) CHECK(is_whole_sequence(digits));
    }
}
