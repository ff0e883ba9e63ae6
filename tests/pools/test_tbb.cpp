// SPDX-License-Identifier: Apache-2.0

// oneTBB: the work of a task_group and a task_arena.

#include <coroscope/integration/tbb.hpp>

#include <oneapi/tbb/global_control.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>

#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/attribute.hpp>
#include <coroscope/traced_mutex.hpp>

#include "../runtime/support/build.hpp"
#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"
#include "../support/skip.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> spreads(int parts, std::atomic<int>& sum) {
    COROSCOPE("spreads");
    coroscope::task_group group;
    for (int each = 0; each < parts; ++each) {
        group.run([&sum, value = std::make_unique<int>(each)] {
            COROSCOPE("part");
            sum += *value;
        });
    }
    group.wait();
    co_return;
}

foreign::manual<foreign::declared> works_in(coroscope::task_arena& arena) {
    arena.execute([] { COROSCOPE("in the arena"); });
    co_return;
}

template <class Mutex>
void check_contended(const char* name) {
    recording session;
    traced_mutex<Mutex> mutex(name);
    long count = 0;
    const auto work = [&] {
        for (int turn = 0; turn < 2'000; ++turn) {
            const std::scoped_lock lock(mutex);
            ++count;
        }
    };
    std::thread one(work), other(work);
    one.join();
    other.join();
    CHECK(count == 4'000);
    const recorded found = session.stop();
    for (const analysis::resource_wait& each : found.trace.resource_waits)
        CHECK(found.site_label(each.site) == name);
}

std::string tenant() {
    const attribute_value value = current_attribute("tenant");
    return value ? std::string(value.data(), value.size()) : "";
}

// Not inlined: a job may continue on another thread after its suspension.
[[gnu::noinline]] std::uint64_t task_here() { return current_context().task; }

// Returns the name of the executor that ran the task of this scope, else its kind and number.
std::string executor_of(const recorded& found, const char* scope) {
    const analysis::event& event = found.event(scope);
    REQUIRE(event.task != analysis::none);
    const std::uint32_t executor = found.trace.tasks[event.task].executor;
    REQUIRE(executor != analysis::none);
    return analysis::name_of_executor(found.trace, executor);
}

struct resumes_on_another_thread {
    std::thread& thread;
    void operator()(oneapi::tbb::task::suspend_point point) const {
        thread = std::thread([point] { oneapi::tbb::task::resume(point); });
    }
};

}  // namespace

TEST_CASE("tbb under ThreadSanitizer" * doctest::skip(!thread_sanitized)) {
    COROSCOPE_SKIP("oneTBB does not tell ThreadSanitizer how it synchronises");
}

TEST_SUITE("tbb" * doctest::skip(thread_sanitized)) {
    TEST_CASE("a traced_mutex of TBB's mutexes is a lock") {
        check_contended<tbb::mutex>("mutex");
        check_contended<tbb::spin_mutex>("spin_mutex");
        check_contended<tbb::rw_mutex>("rw_mutex");
        check_contended<tbb::spin_rw_mutex>("spin_rw_mutex");
    }

    TEST_CASE(
        "parts of a group are tasks, children of the task that runs the group, on any thread") {
        constexpr int parts = 100;
        recording session;
        std::atomic<int> sum{0};
        spreads(parts, sum).resume();
        CHECK(sum == parts * (parts - 1) / 2);
        const recorded found = session.stop();
        const std::uint32_t parent = found.task_index("spreads");
        CHECK(found.count("part") == parts);
        CHECK(found.trace.tasks.size() == parts + 1);
        for (const auto* part : found.events("part")) {
            const auto& task = found.trace.tasks[part->task];
            CHECK(task.parent == parent);
            CHECK(task.time.queued_ns > 0);
            CHECK_FALSE(task.losses);
            CHECK(task.state == analysis::task_state::finished);
        }
    }

    TEST_CASE(
        "a group runs its work and waits for it, and deferred work runs after it is handed in") {
        recording session;
        std::atomic<int> ran{0};
        coroscope::task_group group;
        const auto first = group.run_and_wait([&ran] { ++ran; });
        CHECK(first == oneapi::tbb::complete);
        auto deferred = group.defer([&ran] { ++ran; });
        CHECK(ran == 1);
        group.run(std::move(deferred));
        group.wait();
        const auto last = group.run_and_wait(group.defer([&ran] { ++ran; }));
        CHECK(last == oneapi::tbb::complete);
        CHECK(ran == 3);
        CHECK(session.stop().trace.tasks.size() == 3);
    }

    TEST_CASE("an exception leaves wait(), and the part has failed") {
        recording session;
        coroscope::task_group group;
        group.run([] { throw std::runtime_error("in the part"); });
        CHECK_THROWS_WITH_AS(group.wait(), "in the part", std::runtime_error);
        CHECK(session.stop().trace.tasks.front().state == analysis::task_state::failed);
    }

    TEST_CASE("parts of a cancelled group are cancelled, not lost") {
        recording session;
        {
            coroscope::task_group group;
            {
                auto dropped = group.defer([] { FAIL("it must not run"); });
            }
            group.cancel();
            group.run([] { FAIL("it must not run"); });
            CHECK(group.wait() == oneapi::tbb::canceled);
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.tasks.size() == 2);
        for (const auto& task : found.trace.tasks)
            CHECK(task.state == analysis::task_state::cancelled);
    }

    TEST_CASE("an arena returns values, references and move-only values") {
        coroscope::task_arena arena(2);
        int target = 1;
        CHECK(arena.execute([] { return std::string("value"); }) == "value");
        CHECK(&arena.execute([&target]() -> int& { return target; }) == &target);
        CHECK(*arena.execute([] { return std::make_unique<int>(3); }) == 3);
        arena.execute([&target] { target = 2; });
        CHECK(target == 2);
        CHECK_THROWS_AS(arena.execute([]() -> int { throw std::runtime_error("in the arena"); }),
                        std::runtime_error);
    }

    TEST_CASE("work in an arena belongs to the task that waits for it") {
        recording session;
        coroscope::task_arena arena(2);
        works_in(arena).resume();
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == 1);
        CHECK(found.event("in the arena").task == found.task_index("works_in"));
        CHECK(current_context() == context{});
    }

    TEST_CASE("work that is put into an arena is recorded by a session of one thread") {
        recording session({.all_threads = false});
        coroscope::task_arena arena(2);
        std::atomic<bool> done{false};
        arena.enqueue([&done] {
            {
                COROSCOPE("in the arena");
            }
            done = true;
        });
        while (!done) std::this_thread::yield();
        coroscope::task_group group;
        arena.execute([&] { group.run([] { COROSCOPE("in the group"); }); });
        arena.execute([&] { group.wait(); });
        const recorded found = session.stop();
        CHECK(found.count("in the arena") == 1);
        CHECK(found.count("in the group") == 1);
    }

    TEST_CASE("a job belongs to the arena that it was put into, or in which its group ran it") {
        recording session;
        coroscope::task_arena first(2), second(2);
        coroscope::task_group group;
        first.execute([&] {
            group.run([&] {
                COROSCOPE("in the first");
                group.run([] { COROSCOPE("nested"); });
            });
            group.wait();
        });
        std::atomic<bool> done{false};
        second.enqueue([&done] {
            {
                COROSCOPE("in the second");
            }
            done = true;
        });
        while (!done) std::this_thread::yield();
        group.run([] { COROSCOPE("anywhere"); });
        group.run(group.defer([] { COROSCOPE("deferred"); }));
        group.wait();
        const recorded found = session.stop();
        CHECK(executor_of(found, "in the first") == executor_of(found, "nested"));
        CHECK(executor_of(found, "in the first") != executor_of(found, "in the second"));
        CHECK(executor_of(found, "in the second").starts_with("arena "));
        CHECK(executor_of(found, "anywhere") == "oneTBB");
        CHECK(executor_of(found, "deferred") == "oneTBB");
    }

    TEST_CASE("after a suspension a job has its own arena, and not that of other work on the "
              "thread") {
        recording session;
        coroscope::task_arena arena(2);
        coroscope::task_group group;
        arena.execute([&] {
            group.run([&group] {
                std::thread resumes;
                tbb_suspend(resumes_on_another_thread{resumes});
                resumes.join();
                COROSCOPE("suspended");
                group.run([] { COROSCOPE("after it"); });
            });
            group.wait();
        });
        const recorded found = session.stop();
        CHECK(executor_of(found, "suspended") == executor_of(found, "after it"));
    }

    TEST_CASE("a job that is suspended by tbb_suspend continues as itself, on any thread") {
        constexpr int jobs = 200;
        const oneapi::tbb::global_control two(oneapi::tbb::global_control::max_allowed_parallelism,
                                              2);
        recording session;
        std::atomic<int> wrong{0};
        const attribute mine("tenant", "main");
        coroscope::task_group group;
        for (int each = 0; each < jobs; ++each) {
            group.run([each, &wrong] {
                if (tenant() != "main") ++wrong;
                const attribute own("tenant", std::to_string(each));
                const std::uint64_t task = task_here();
                std::thread resumes;
                tbb_suspend(resumes_on_another_thread{resumes});
                if (task_here() != task || tenant() != std::to_string(each)) ++wrong;
                COROSCOPE("behind");
                resumes.join();
            });
        }
        group.wait();
        CHECK(wrong == 0);
        CHECK(task_here() == 0);
        CHECK(tenant() == "main");
        const recorded found = session.stop();
        CHECK(found.count("behind") == jobs);
        REQUIRE(found.trace.tasks.size() == jobs);
        for (const auto& task : found.trace.tasks) {
            CHECK(task.state == analysis::task_state::finished);
            CHECK_FALSE(task.losses);
            CHECK(task.awaits.size() == 1);
            CHECK(task.slices.size() == 2);
        }
        for (const auto* behind : found.events("behind")) CHECK(behind->task != analysis::none);
    }

    // This test is the last one: worker threads keep the contexts of its suspended jobs, and a
    // later session would see them.
    TEST_CASE("jobs that suspend without tbb_suspend break nothing, and leave the waiting thread "
              "its context") {
        constexpr int jobs = 200;
        const oneapi::tbb::global_control two(oneapi::tbb::global_control::max_allowed_parallelism,
                                              2);
        recording session;
        const attribute mine("tenant", "main");
        coroscope::task_group group;
        for (int each = 0; each < jobs; ++each) {
            group.run([each] {
                COROSCOPE("suspended");
                const attribute own("tenant", std::to_string(each));
                std::thread resumes;
                oneapi::tbb::task::suspend(resumes_on_another_thread{resumes});
                resumes.join();
            });
        }
        group.wait();
        CHECK(task_here() == 0);
        CHECK(tenant() == "main");
        const recorded found = session.stop();
        CHECK(found.count("suspended") == jobs);
    }
}
