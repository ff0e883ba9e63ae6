// SPDX-License-Identifier: Apache-2.0

// Many threads pass many coroutines between them: nothing is lost and no tasks are mixed up.

#include <coroscope/coroscope.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "../support/build.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr int hops = 4;

// Each executor is one thread. A coroutine moves to another executor at each step.
foreign::manual<foreign::outside> wanders(std::vector<thread_executor>& threads, std::size_t number,
                                          std::atomic<int>& left) {
    {
        COROSCOPE("wanders");
        for (std::size_t hop = 0; hop < hops; ++hop) {
            co_await threads[(number * 7 + hop * 13) % threads.size()].hop();
            COROSCOPE("between hops");
        }
    }
    if (left.fetch_sub(1) == 1) left.notify_all();
}

void pass_around(std::size_t thread_count, int coroutine_count) {
    // The policy is to wait: on a busy machine the trace grows more slowly than 64 threads write.
    recording session(
        {.all_threads = true, .policy = overflow::wait, .limit_bytes = std::size_t{1} << 28});
    {
        std::vector<thread_executor> threads(thread_count);
        std::atomic<int> left{coroutine_count};
        std::vector<foreign::manual<foreign::outside>> all;
        all.reserve(static_cast<std::size_t>(coroutine_count));
        for (int each = 0; each < coroutine_count; ++each)
            all.push_back(wanders(threads, static_cast<std::size_t>(each), left));
        for (auto& each : all) each.resume();
        for (int now = left; now != 0; now = left) left.wait(now);
        for (auto& each : threads) each.join();
    }
    const recorded found = session.stop();
    const auto count = static_cast<std::size_t>(coroutine_count);
    CHECK(found.trace.tasks.size() == count);
    CHECK(found.trace.awaits.size() == count * hops);
    CHECK(found.trace.slices.size() == count * (hops + 1));
    CHECK(found.count("wanders") == count);
    CHECK(found.count("between hops") == count * hops);

    int wrong = 0;
    for (const auto& task : found.trace.tasks) {
        const auto& time = task.time;
        const bool adds_up = task.first_wake_ns && task.end_ns &&
                             time.wall_ns() == *task.end_ns - *task.first_wake_ns;
        const bool sound = task.state == analysis::task_state::finished && !task.losses &&
                           task.slices.size() == hops + 1 && task.awaits.size() == hops &&
                           time.running_ns > 0 && time.waiting_ns >= 0;
        wrong += adds_up && sound ? 0 : 1;
    }
    CHECK(wrong == 0);

    std::vector<int> outer(count, 0);
    std::vector<int> inner(count, 0);
    int misplaced = 0;
    for (const auto* event : found.events("wanders")) {
        const bool exact =
            (event->flags & analysis::event_suspension_unknown) == 0 && event->task < count;
        if (!exact) {
            ++misplaced;
            continue;
        }
        ++outer[event->task];
        const auto& task = found.trace.tasks[event->task];
        if (event->start_ns < *task.first_wake_ns || event->end_ns > *task.end_ns) ++misplaced;
        if (found.split(*event).wall_ns() != event->end_ns - event->start_ns) ++misplaced;
    }
    for (const auto* event : found.events("between hops")) {
        if (event->task >= count) {
            ++misplaced;
            continue;
        }
        ++inner[event->task];
        const bool nests = event->parent != analysis::none &&
                           found.trace.events[event->parent].task == event->task;
        if (!nests) ++misplaced;
    }
    CHECK(misplaced == 0);
    CHECK(outer == std::vector<int>(count, 1));
    CHECK(inner == std::vector<int>(count, hops));
}

}  // namespace

TEST_SUITE("many threads") {
    TEST_CASE("64 threads pass 10,000 coroutines between them and each scope stays with its task") {
        pass_around(64, 10'000);
    }

    TEST_CASE("two threads pass coroutines back and forth with small chunks") {
        pass_around(2, 500);
    }
}
