// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber: fibers of a tracked scheduling algorithm, on one thread and on several.

#include <coroscope/integration/boost_fiber.hpp>

#include <boost/fiber/all.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <coroscope/traced_mutex.hpp>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/build.hpp"
#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"
#include "../support/skip.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace bf = boost::fibers;

namespace {

void nap() { spin(std::chrono::microseconds(200)); }

// Runs the test on a new thread, under a tracked algorithm: Boost keeps a thread's algorithm.
template <class Algorithm, class Body, class... Arguments>
void on_thread(Body body, Arguments... arguments) {
    std::thread([&] {
        bf::use_scheduling_algorithm<fibers::tracked<Algorithm>>(arguments...);
        body();
    }).join();
}

// In these tests a main fiber has no parent, and runs from its spawn on.
bool is_main(const analysis::task_info& task) {
    return task.fiber && task.parent == analysis::none && task.spawn_ns == task.first_wake_ns;
}

std::vector<analysis::task_info> fibers_of(const recorded& found) {
    std::vector<analysis::task_info> all;
    for (const auto& task : found.trace.tasks) {
        if (task.fiber && !is_main(task)) all.push_back(task);
    }
    std::ranges::sort(all, {}, &analysis::task_info::id);
    return all;
}

void check_ended(const recorded& found, const analysis::task_info& task) {
    CHECK(task.state == analysis::task_state::finished);
    CHECK_FALSE(task.losses);
    check_sum(task, found.trace.duration_ns);
}

void check_whole(const recorded& found, const analysis::task_info& task) {
    check_ended(found, task);
    CHECK(task.time.waiting_ns == 0);
}

struct inline_executor {
    template <class Job>
    void execute(Job&& job) {
        job();
    }
};

// Checks that two tasks of one thread never run at the same time.
void check_apart(const recorded& found, const analysis::task_info& left,
                 const analysis::task_info& right) {
    for (const std::uint32_t one : left.slices) {
        for (const std::uint32_t other : right.slices) {
            const analysis::slice& first = found.trace.slices[one];
            const analysis::slice& second = found.trace.slices[other];
            CHECK((first.end_ns <= second.start_ns || second.end_ns <= first.start_ns));
        }
    }
}

foreign::manual<foreign::declared> sleeps_on_its_fiber() {
    COROSCOPE_FUNCTION();
    boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
    co_return;
}

struct priority : bf::fiber_properties {
    explicit priority(bf::context* of) : bf::fiber_properties(of) {}
    int value = 0;
};

// An algorithm with properties that runs the newest fiber first.
class newest_first final : public bf::algo::algorithm_with_properties<priority> {
public:
    using bf::algo::algorithm_with_properties<priority>::awakened;
    void awakened(bf::context* ready, priority& of) noexcept override {
        ++of.value;
        ready->ready_link(queue_);
        queue_.pop_back();
        queue_.push_front(*ready);
    }
    bf::context* pick_next() noexcept override {
        if (queue_.empty()) return nullptr;
        // The scheduler's own fiber comes last, else only that fiber would run.
        auto next = queue_.begin();
        while (next->is_context(bf::type::dispatcher_context) && std::next(next) != queue_.end())
            ++next;
        bf::context* picked = &*next;
        queue_.erase(next);
        return picked;
    }
    bool has_ready_fibers() const noexcept override { return !queue_.empty(); }
    void suspend_until(const std::chrono::steady_clock::time_point& until) noexcept override {
        std::this_thread::sleep_until(
            std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
    }
    void notify() noexcept override {}

private:
    bf::scheduler::ready_queue_type queue_;
};

// Waits like the primitives of a library, until another fiber or thread makes it ready.
void park(bf::context*& parked) {
    COROSCOPE("parked");
    parked = bf::context::active();
    parked->suspend();
}

}  // namespace

TEST_CASE("boost_fiber under ThreadSanitizer" * doctest::skip(!thread_sanitized)) {
    COROSCOPE_SKIP("Boost.Fiber does not tell ThreadSanitizer of its stacks");
}

TEST_SUITE("boost_fiber" * doctest::skip(thread_sanitized)) {
    TEST_CASE("a fiber that waits for a mutex names the fiber that holds it") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            traced_mutex<bf::mutex> mutex("between fibers");
            bf::condition_variable_any changed;
            bool ready = false;
            bf::fiber holder([&] {
                const std::scoped_lock lock(mutex);
                COROSCOPE("holds");
                boost::this_fiber::yield();
                ready = true;
                changed.notify_all();
            });
            bf::fiber waiter([&] {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return ready; });
            });
            holder.join();
            waiter.join();
        });
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 1);
        const analysis::resource_wait& wait = found.trace.resource_waits[0];
        CHECK(found.site_label(wait.site) == "between fibers");
        REQUIRE(wait.task != analysis::none);
        REQUIRE(wait.holder_task != analysis::none);
        CHECK(wait.task != wait.holder_task);
        CHECK(wait.releaser_task == wait.holder_task);
        REQUIRE(wait.holder_scope != analysis::none);
        CHECK(&found.trace.events[wait.holder_scope] == &found.event("holds"));
    }

    TEST_CASE("each fiber is a task, and a child of its creator") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::fiber parent([] {
                COROSCOPE("parent");
                bf::fiber([] { COROSCOPE("child"); }).join();
            });
            const std::uint64_t main = current_context().task;
            parent.join();
            CHECK(current_context().task == main);
        });
        const recorded found = session.stop();
        const auto all = fibers_of(found);
        REQUIRE(all.size() == 2);
        REQUIRE(found.event("child").task != analysis::none);
        const auto& child = found.trace.tasks[found.event("child").task];
        CHECK(child.parent == found.event("parent").task);
        REQUIRE(found.trace.tasks[child.parent].parent != analysis::none);
        CHECK(is_main(found.trace.tasks[found.trace.tasks[child.parent].parent]));
        for (const auto& each : all) check_whole(found, each);
        const auto awaits = found.awaits(found.trace.tasks[child.parent]);
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].waker == found.event("child").task);
    }

    TEST_CASE("a fiber that yields is queued until it runs again, and is its own waker") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::fiber first([] {
                boost::this_fiber::yield();
                COROSCOPE("first");
            });
            bf::fiber second([] { nap(); });
            first.join();
            second.join();
        });
        const recorded found = session.stop();
        const std::uint32_t first = found.event("first").task;
        const auto awaits = found.awaits(found.trace.tasks[first]);
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].waker == first);
        CHECK(awaits[0].wake_ns == awaits[0].suspend_ns);
        CHECK(found.trace.tasks[first].time.suspended_ns == 0);
        CHECK(found.trace.tasks[first].time.queued_ns >= nearly(200'000));
    }

    TEST_CASE("a fiber that sleeps is suspended, and so are its scopes") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::fiber([] {
                COROSCOPE("sleeper");
                boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
            }).join();
        });
        const recorded found = session.stop();
        const auto& sleeper = found.event("sleeper");
        CHECK(found.split(sleeper).suspended_ns > 0);
        CHECK((sleeper.flags & analysis::event_suspension_unknown) == 0);
        check_whole(found, found.trace.tasks[sleeper.task]);
    }

    TEST_CASE("a fiber that is dispatched at once interrupts the fiber that starts it") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::fiber([] {
                COROSCOPE("starter");
                bf::fiber dispatched(bf::launch::dispatch, [] { COROSCOPE("dispatched"); });
                dispatched.join();
            }).join();
        });
        const recorded found = session.stop();
        const auto& starter = found.trace.tasks[found.event("starter").task];
        const auto& dispatched = found.trace.tasks[found.event("dispatched").task];
        CHECK(dispatched.parent == found.event("starter").task);
        check_whole(found, starter);
        CHECK_FALSE(dispatched.losses);
        CHECK(found.event("dispatched").start_ns <
              found.trace.awaits[starter.awaits.front()].resume_ns);
    }

    TEST_CASE("the thread's main fiber is a task, which is suspended while other fibers run") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            COROSCOPE_FUNCTION();
            COROSCOPE("main scope");
            bf::fiber([] {
                nap();
                COROSCOPE("fiber scope");
            }).join();
        });
        const recorded found = session.stop();
        const auto& scope = found.event("main scope");
        REQUIRE(scope.task != analysis::none);
        const auto& main = found.trace.tasks[scope.task];
        const auto fiber = fibers_of(found).front();
        CHECK(is_main(main));
        check_ended(found, main);
        CHECK(fiber.parent == scope.task);
        check_apart(found, main, fiber);
        const analysis::time_split split = found.split(scope);
        CHECK(split.running_ns <= scope.end_ns - scope.start_ns - fiber.time.running_ns);
        const auto awaits = found.awaits(main);
        REQUIRE_FALSE(awaits.empty());
        CHECK(awaits.front().waker == found.event("fiber scope").task);
    }

    TEST_CASE("a main fiber that sleeps is suspended, and its thread runs no other task's work") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            COROSCOPE("main scope");
            boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
            COROSCOPE("afterwards");
        });
        const recorded found = session.stop();
        const auto& scope = found.event("main scope");
        CHECK(found.split(scope).suspended_ns > 0);
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.event("afterwards").task == scope.task);
        REQUIRE(scope.task != analysis::none);
        check_ended(found, found.trace.tasks[scope.task]);
    }

    TEST_CASE("a job that runs fibers is suspended while the fibers run and while they sleep") {
        recording session;
        std::thread([] {
            inline_executor here;
            executor_adaptor jobs(here);
            jobs.execute([] {
                bf::use_scheduling_algorithm<fibers::tracked<bf::algo::round_robin>>();
                COROSCOPE("job");
                bf::fiber([] {
                    COROSCOPE("fiber");
                    boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
                }).join();
            });
            jobs.execute([] {
                COROSCOPE("second job");
                boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
            });
            COROSCOPE("in no task");
            boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
        }).join();
        const recorded found = session.stop();
        const auto& fiber = found.trace.tasks[found.event("fiber").task];
        for (const char* name : {"job", "second job"}) {
            const auto& scope = found.event(name);
            REQUIRE(scope.task != analysis::none);
            const auto& job = found.trace.tasks[scope.task];
            CHECK(job.job);
            check_whole(found, job);
            check_apart(found, job, fiber);
            CHECK(job.time.suspended_ns > 0);
            CHECK(found.split(scope).suspended_ns > 0);
        }
        CHECK(fiber.parent == found.event("job").task);
        const auto& outside = found.event("in no task");
        CHECK(outside.task == analysis::none);
        CHECK(found.split(outside).running_ns == 0);
        CHECK(found.split(outside).waiting_ns > 0);
    }

    TEST_CASE("a coroutine on the main fiber is suspended while the fiber sleeps") {
        recording session;
        on_thread<bf::algo::round_robin>([] { sleeps_on_its_fiber().resume(); });
        const recorded found = session.stop();
        const auto& coroutine = found.task("sleeps_on_its_fiber");
        CHECK_FALSE(coroutine.losses);
        CHECK(coroutine.time.suspended_ns > 0);
        CHECK(coroutine.time.waiting_ns == 0);
    }

    TEST_CASE("a fiber that another fiber wakes names its waker") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::mutex mutex;
            bf::condition_variable changed;
            bool ready = false;
            bf::fiber waits([&] {
                COROSCOPE("waits");
                std::unique_lock lock(mutex);
                changed.wait(lock, [&ready] { return ready; });
            });
            bf::fiber wakes([&] {
                COROSCOPE("wakes");
                const std::unique_lock lock(mutex);
                ready = true;
                changed.notify_one();
            });
            waits.join();
            wakes.join();
        });
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.trace.tasks[found.event("waits").task]);
        REQUIRE_FALSE(awaits.empty());
        CHECK(awaits.front().waker == found.event("wakes").task);
    }

    TEST_CASE("a fiber that a library parks is suspended until the library makes it ready") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::context* parked = nullptr;
            bf::fiber waits([&parked] { park(parked); });
            bf::fiber wakes([&parked] {
                COROSCOPE("wakes");
                boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
                bf::context::active()->schedule(parked);
            });
            waits.join();
            wakes.join();
        });
        const recorded found = session.stop();
        const auto& waits = found.trace.tasks[found.event("parked").task];
        const auto awaits = found.awaits(waits);
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].waker == found.event("wakes").task);
        CHECK(awaits[0].wake_ns > awaits[0].suspend_ns);
        CHECK(waits.time.suspended_ns >= nearly(2'000'000));
        check_whole(found, waits);
    }

    TEST_CASE("a parked fiber that another thread makes ready has an unseen waker") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::context* parked = nullptr;
            bf::fiber waits([&parked] { park(parked); });
            while (parked == nullptr) boost::this_fiber::yield();
            std::thread([parked] { parked->get_scheduler()->schedule_from_remote(parked); }).join();
            waits.join();
        });
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.trace.tasks[found.event("parked").task]);
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].waker == analysis::none);
        CHECK(awaits[0].wake_ns > awaits[0].suspend_ns);
    }

    TEST_CASE("a coroutine on a fiber is suspended while the fiber is") {
        recording session;
        on_thread<bf::algo::round_robin>(
            [] { bf::fiber([] { sleeps_on_its_fiber().resume(); }).join(); });
        const recorded found = session.stop();
        const auto& coroutine = found.task("sleeps_on_its_fiber");
        CHECK_FALSE(coroutine.losses);
        CHECK(coroutine.time.suspended_ns > 0);
        CHECK(coroutine.time.waiting_ns == 0);
        CHECK(found.trace.tasks[coroutine.parent].fiber);
    }

    TEST_CASE("a fiber keeps its properties under a tracked algorithm with properties") {
        recording session;
        int seen = 0;
        on_thread<newest_first>([&seen] {
            bf::fiber([&seen] {
                COROSCOPE("with properties");
                boost::this_fiber::yield();
                seen = boost::this_fiber::properties<priority>().value;
            }).join();
        });
        CHECK(seen == 2);
        const recorded found = session.stop();
        check_whole(found, found.trace.tasks[found.event("with properties").task]);
    }

    TEST_CASE("a session of one thread follows the fibers of that thread only") {
        on_thread<bf::algo::round_robin>([] {
            bf::fiber before([] {
                COROSCOPE("before");
                boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
                COROSCOPE("still before");
            });
            boost::this_fiber::yield();
            recording session({.all_threads = false});
            bf::fiber([] {
                COROSCOPE("within");
                boost::this_fiber::yield();
            }).join();
            before.join();
            const recorded found = session.stop();
            CHECK(found.count("within") == 1);
            CHECK(found.count("still before") == 0);
        });
    }

    TEST_CASE("an algorithm may replace another one while fibers are ready") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            std::vector<bf::fiber> all;
            for (int each = 0; each < 3; ++each) all.emplace_back([] { COROSCOPE("moved"); });
            bf::use_scheduling_algorithm<fibers::tracked<bf::algo::round_robin>>();
            {
                COROSCOPE("on the thread");
            }
            for (bf::fiber& each : all) each.join();
        });
        const recorded found = session.stop();
        REQUIRE(found.event("on the thread").task != analysis::none);
        const auto& main = found.trace.tasks[found.event("on the thread").task];
        CHECK(is_main(main));
        CHECK(main.state == analysis::task_state::finished);
        REQUIRE(fibers_of(found).size() == 3);
        for (const auto& each : fibers_of(found))
            CHECK(each.state == analysis::task_state::finished);
        std::set<std::uint32_t> tasks;
        for (const auto* event : found.events("moved")) tasks.insert(event->task);
        CHECK(tasks.size() == 3);
    }

    TEST_CASE("fibers that other threads steal keep their tasks") {
        constexpr int threads = 4, fibers = 200, rounds = 20;
        recording session;
        {
            std::atomic<int> left{fibers}, first_thread{0};
            std::atomic<bool> two_threads{false};
            const auto note_thread = [&first_thread, &two_threads] {
                int first = 0;
                if (!first_thread.compare_exchange_strong(first, ::gettid()) && first != ::gettid())
                    two_threads = true;
            };
            // Workers wait in their scheduler until all fibers of all threads are done.
            const auto work = [&](bool starts) {
                bf::use_scheduling_algorithm<fibers::tracked<bf::algo::shared_work>>();
                for (int each = 0; starts && each < fibers; ++each) {
                    bf::fiber([&] {
                        COROSCOPE("whole");
                        for (int round = 0; round < rounds; ++round) {
                            COROSCOPE("round");
                            do {
                                boost::this_fiber::yield();
                                note_thread();
                            } while (!two_threads);
                        }
                        --left;
                    }).detach();
                }
                while (left.load() != 0)
                    boost::this_fiber::sleep_for(std::chrono::microseconds(100));
            };
            std::vector<std::thread> pool;
            for (int each = 0; each < threads; ++each) pool.emplace_back(work, each == 0);
            for (std::thread& each : pool) each.join();
        }
        const recorded found = session.stop();
        const auto all = fibers_of(found);
        CHECK(all.size() == fibers);
        std::set<std::uint32_t> threads_seen;
        for (const auto& each : all) {
            check_whole(found, each);
            CHECK(each.slices.size() >= rounds + 1);
            CHECK(each.slices.size() == each.awaits.size() + 1);
            CHECK(each.time.suspended_ns == 0);
            for (const std::uint32_t slice : each.slices)
                threads_seen.insert(found.trace.slices[slice].thread);
        }
        CHECK(threads_seen.size() > 1);
        std::map<std::uint32_t, int> rounds_of;
        for (const auto* event : found.events("round")) ++rounds_of[event->task];
        CHECK(rounds_of.size() == fibers);
        for (const auto& [task, count] : rounds_of) CHECK(count == rounds);
    }

    TEST_CASE(
        "the scheduler of each thread is an executor; threads that share their fibers have one") {
        recording session;
        for (int each = 0; each < 2; ++each)
            on_thread<bf::algo::round_robin>([] { bf::fiber([] { nap(); }).join(); });
        const recorded alone = session.stop();
        std::set<std::uint32_t> own;
        for (const auto& fiber : fibers_of(alone)) own.insert(fiber.executor);
        CHECK(own.size() == 2);
        CHECK_FALSE(own.contains(analysis::none));
        recording again;
        for (int each = 0; each < 2; ++each)
            on_thread<bf::algo::shared_work>([] { bf::fiber([] { nap(); }).join(); });
        const recorded shared = again.stop();
        std::set<std::uint32_t> used;
        for (const auto& fiber : fibers_of(shared)) used.insert(fiber.executor);
        REQUIRE(used.size() == 1);
        REQUIRE(*used.begin() < shared.trace.executors.size());
        CHECK(shared.trace.executors[*used.begin()].kind == trace::executor_kind::fibers);
    }
}
