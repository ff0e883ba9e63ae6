// SPDX-License-Identifier: Apache-2.0

// Sessions without a free chunk: for each policy, every record is found or counted.

#include <atomic>
#include <cerrno>
#include <coroutine>
#include <thread>

#include "../../support/scratch_file.hpp"
#include "../support/build.hpp"
#include "../support/parking.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint32_t chunk_bytes = 4096;

profile_options in_chunks(std::size_t chunks, overflow policy, const char* output = nullptr) {
    return {.output = output,
            .all_threads = true,
            .policy = policy,
            .limit_bytes = 4096 + chunks * chunk_bytes,
            .chunk_bytes = chunk_bytes};
}

// All threads record once before any goes on, so that each holds a chunk or was refused one.
std::uint64_t crowd(int threads, std::uint64_t steps_each) {
    std::atomic<int> begun{0};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&] {
            step(0);
            ++begun;
            while (begun != threads) std::this_thread::yield();
            for (std::uint64_t number = 1; number < steps_each; ++number) step(number);
        });
    for (std::thread& thread : all) thread.join();
    return static_cast<std::uint64_t>(threads) * steps_each;
}

std::uint64_t lost(const analysis::trace& trace) {
    return trace.health.dropped_newest + trace.health.overwritten + trace.health.late_records;
}

// Each attempted record is found, dropped or overwritten, per thread and in total.
void check_arithmetic(const analysis::trace& trace, std::uint64_t steps_each,
                      std::uint64_t attempted) {
    const std::vector<std::string> digits = steps_by_thread(trace);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const analysis::thread_info& thread = trace.threads[i];
        CHECK(digits[i].size() + thread.dropped_newest + thread.overwritten == steps_each);
    }
    CHECK(count_steps(trace) + lost(trace) == attempted);
    CHECK(trace.health.late_records == 0);
}

// A thread that records five steps, and then idles until the end of the block.
class idle_thread {
public:
    idle_thread()
        : thread_([this] {
              steps(5);
              recorded_ = true;
              recorded_.notify_one();
              over_.wait(false);
          }) {
        recorded_.wait(false);
    }
    idle_thread(const idle_thread&) = delete;
    idle_thread& operator=(const idle_thread&) = delete;
    ~idle_thread() {
        over_ = true;
        over_.notify_one();
        thread_.join();
    }

private:
    std::atomic<bool> recorded_{false};
    std::atomic<bool> over_{false};
    std::thread thread_;
};

task<void> old_task(parking& place) {
    co_await place;
    COROSCOPE("after the ring went round");
}

task<void> short_task() {
    COROSCOPE("short");
    co_return;
}

void check_known_tasks(const analysis::trace& trace) {
    CHECK(trace.health.tasks_without_slot == 0);
    for (const analysis::task_info& task : trace.tasks) {
        REQUIRE(task.spawn_site != analysis::none);
        CHECK_FALSE(trace.sites[task.spawn_site].function.empty());
        CHECK(trace.sites[task.spawn_site].line > 0);
    }
    for (const analysis::event& event : trace.events) {
        const std::string& label = label_of(trace, event);
        if (label == "short" || label == "after the ring went round")
            CHECK(event.task != analysis::none);
    }
}

}  // namespace

TEST_SUITE("policies") {
    TEST_CASE(
        "drop newest: with more threads than chunks every record is found or counted, per thread") {
        const scratch_file file;
        for (const char* output : {static_cast<const char*>(nullptr), file.path()}) {
            profile session(in_chunks(16, overflow::drop_newest, output));
            const std::uint64_t attempted = crowd(24, 1000);
            const std::uint64_t said = session.status().lost_records;
            const trace::buffer bytes = session.stop();
            const analysis::trace trace =
                output == nullptr ? load(bytes) : load(std::string(output));
            CHECK(trace.policy == "drop newest");
            CHECK(trace.health.overwritten == 0);
            CHECK(trace.health.dropped_newest > 0);
            CHECK(said == trace.health.dropped_newest);
            check_arithmetic(trace, 1000, attempted);
            for (const std::string& digits : steps_by_thread(trace))
                CHECK(is_whole_sequence(digits));
        }
    }

    TEST_CASE("overwrite oldest: with more threads than chunks every record is found or counted, "
              "per thread") {
        const scratch_file file;
        for (const char* output : {static_cast<const char*>(nullptr), file.path()}) {
            profile session(in_chunks(16, overflow::overwrite_oldest, output));
            const std::uint64_t attempted = crowd(24, 1000);
            const std::uint64_t said = session.status().lost_records;
            const trace::buffer bytes = session.stop();
            const analysis::trace trace =
                output == nullptr ? load(bytes) : load(std::string(output));
            CHECK(trace.policy == "overwrite oldest");
            // The status at that moment: the helper may empty another chunk before the stop.
            CHECK(said <= lost(trace));
            check_arithmetic(trace, 1000, attempted);
        }
    }

    TEST_CASE("overwrite oldest: the remaining records are the newest, without a gap") {
        profile session(in_chunks(16, overflow::overwrite_oldest));
        steps(20'000);
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.dropped_newest == 0);
        CHECK(trace.health.overwritten > 0);
        CHECK(count_steps(trace) + trace.health.overwritten == 20'000);
        CHECK(count_steps(trace) > 1000);
        const std::string digits = steps_by_thread(trace)[0];
        CHECK(is_sequence(digits));
        CHECK(digits.back() == '4');
    }

    TEST_CASE("overwrite oldest: a thread that idles on a chunk keeps its records") {
        profile session(in_chunks(16, overflow::overwrite_oldest));
        const idle_thread idle;
        steps(20'000);
        const analysis::trace trace = load(session.stop());
        CHECK(count_steps(trace) + lost(trace) == 20'005);
        bool found = false;
        for (const std::string& digits : steps_by_thread(trace)) found = found || digits == "01234";
        CHECK(found);
    }

    TEST_CASE("overwrite oldest: tasks from before the ring went round are known, ended or not") {
        parking first;
        parking second;
        profile session(in_chunks(48, overflow::overwrite_oldest));
        std::thread early([&] { sync_wait(old_task(first)); });
        std::thread never([&] { sync_wait(old_task(second)); });
        const std::coroutine_handle<> handle = first.wait();
        const std::coroutine_handle<> last = second.wait();
        for (int i = 0; i < 3000; ++i) sync_wait(short_task());
        handle.resume();
        early.join();
        const analysis::trace trace = load(session.stop());
        last.resume();
        never.join();
        CHECK(trace.health.overwritten > 0);
        CHECK(count(trace, "after the ring went round") == 1);
        check_known_tasks(trace);
        std::size_t alive = 0;
        for (const analysis::task_info& task : trace.tasks)
            alive += trace.sites[task.spawn_site].function.find("old_task") != std::string::npos
                         ? 1U
                         : 0U;
        CHECK(alive == 2);
    }

    TEST_CASE(
        "overwrite oldest: a task whose end the ring holds is known, at each position of the cut") {
        for (std::uint64_t shift = 0; shift < 16; ++shift) {
            profile session(in_chunks(16, overflow::overwrite_oldest));
            steps(shift);
            for (int number = 0; number < 1000; ++number) sync_wait(short_task());
            const analysis::trace trace = load(session.stop());
            CHECK(trace.health.overwritten > 0);
            check_known_tasks(trace);
        }
    }

    TEST_CASE("overwrite oldest: tasks of many threads at once are all known") {
        profile session(in_chunks(64, overflow::overwrite_oldest));
        std::vector<std::thread> threads;
        for (int i = 0; i < 6; ++i)
            threads.emplace_back([] {
                for (int number = 0; number < 1000; ++number) sync_wait(short_task());
            });
        for (std::thread& thread : threads) thread.join();
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten > 0);
        check_known_tasks(trace);
    }

    TEST_CASE("wait: below the limit nothing is lost, with more threads than chunks at the start") {
        profile session(in_chunks(4096, overflow::wait));
        const std::uint64_t attempted = crowd(48, 500);
        const analysis::trace trace = load(session.stop());
        CHECK(trace.policy == "wait");
        CHECK(lost(trace) == 0);
        CHECK(count_steps(trace) == attempted);
    }

    TEST_CASE("wait: at the limit no thread blocks, and every record is found or counted") {
        profile session(in_chunks(16, overflow::wait));
        const std::uint64_t attempted = crowd(24, 300);
        const analysis::trace trace = load(session.stop());
        CHECK(lost(trace) > 0);
        check_arithmetic(trace, 300, attempted);
    }

    TEST_CASE("wait: an idle thread that holds a chunk blocks no other thread") {
        profile session(in_chunks(256, overflow::wait));
        const idle_thread idle;
        steps(10'000);
        const analysis::trace trace = load(session.stop());
        CHECK(lost(trace) == 0);
        CHECK(count_steps(trace) == 10'005);
    }

    TEST_CASE("no policy changes the program's errno, whatever a full chunk requires") {
        for (const overflow policy :
             {overflow::wait, overflow::drop_newest, overflow::overwrite_oldest}) {
            constexpr std::uint64_t records = sanitized ? 20'000 : 200'000;
            profile session(in_chunks(records * 2 / 25, policy));
            std::atomic<int> changed{0};
            std::vector<std::thread> threads;
            for (int i = 0; i < 16; ++i)
                threads.emplace_back([&changed] {
                    for (std::uint64_t number = 0; number < records; ++number) {
                        errno = EDOM;
                        step(number);
                        if (errno != EDOM) ++changed;
                    }
                });
            for (std::thread& thread : threads) thread.join();
            CHECK(changed == 0);
        }
    }

    TEST_CASE("records that ended threads lost still count in a running session's status") {
        profile session(in_chunks(4, overflow::drop_newest));
        std::thread([] { steps(5000); }).join();
        const std::uint64_t said = session.status().lost_records;
        const analysis::trace trace = load(session.stop());
        CHECK(said > 0);
        CHECK(said == trace.health.dropped_newest);
        CHECK(session.status().lost_records == said);
    }
}
