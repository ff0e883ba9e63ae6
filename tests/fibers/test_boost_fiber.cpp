// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber: fibers of a tracked scheduling algorithm, on one thread and on several.

#include <coroscope/integration/boost_fiber.hpp>

#include <boost/fiber/all.hpp>

#include <unistd.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

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

// Runs the test on a thread of its own, under a tracked algorithm: Boost keeps a thread's algorithm.
template <class Algorithm, class Body, class... Arguments>
void on_thread(Body body, Arguments... arguments) {
    std::thread([&] {
        bf::use_scheduling_algorithm<fibers::tracked<Algorithm>>(arguments...);
        body();
    }).join();
}

std::vector<const analysis::task_info*> fibers_of(const recorded& found) {
    std::vector<const analysis::task_info*> all;
    for (const auto& task : found.trace.tasks) {
        if (task.fiber) all.push_back(&task);
    }
    std::sort(all.begin(), all.end(), [](auto* left, auto* right) { return left->id < right->id; });
    return all;
}

void check_whole(const recorded& found, const analysis::task_info& task) {
    CHECK(task.state == analysis::task_state::finished);
    CHECK_FALSE(task.losses);
    CHECK(task.time.waiting_ns == 0);
    check_sum(task, found.trace.duration_ns);
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

// Last come, first served, among those with properties.
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
        // The scheduler's own fiber last, else it alone would run.
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

// Waits as a library's own primitives do, for whoever makes it ready.
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
    TEST_CASE("each fiber is a task, child of whatever made it, and named after its function") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::fiber parent([] {
                COROSCOPE("parent");
                bf::fiber([] { COROSCOPE("child"); }).join();
            });
            parent.join();
            CHECK(current_context().task == 0);
        });
        const recorded found = session.stop();
        const auto all = fibers_of(found);
        REQUIRE(all.size() == 2);
        REQUIRE(found.event("child").task != analysis::none);
        const auto& child = found.trace.tasks[found.event("child").task];
        CHECK(child.parent == found.event("parent").task);
        CHECK(found.trace.tasks[child.parent].parent == analysis::none);
        for (const auto* each : all) check_whole(found, *each);
        const auto awaits = found.awaits(found.trace.tasks[child.parent]);
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].waker == found.event("child").task);
    }

    TEST_CASE("a fiber that yields is queued until it runs again, woken by itself") {
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
        CHECK(found.trace.tasks[first].time.queued_ns >= 200'000);
    }

    TEST_CASE("a fiber that sleeps is suspended, and its scopes know it") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            bf::fiber([] {
                COROSCOPE("sleeper");
                boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
            }).join();
        });
        const recorded found = session.stop();
        const auto& sleeper = found.event("sleeper");
        CHECK(found.split(sleeper).suspended_ns >= 1'500'000);
        CHECK((sleeper.flags & analysis::event_suspension_unknown) == 0);
        check_whole(found, found.trace.tasks[sleeper.task]);
    }

    TEST_CASE("a fiber that is dispatched at once interrupts who started it") {
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

    TEST_CASE("the thread's main fiber stays what the thread was doing") {
        recording session;
        on_thread<bf::algo::round_robin>([] {
            COROSCOPE("main scope");
            bf::fiber([] {
                nap();
                COROSCOPE("fiber scope");
            }).join();
        });
        const recorded found = session.stop();
        const auto& main = found.event("main scope");
        CHECK(main.task == analysis::none);
        const auto& fiber = *fibers_of(found).front();
        CHECK(main.self_running_ns <= main.end_ns - main.start_ns - fiber.time.running_ns);
    }

    TEST_CASE("a fiber woken by another says by whom") {
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
        CHECK(waits.time.suspended_ns >= 1'500'000);
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
        CHECK(coroutine.time.suspended_ns >= 1'500'000);
        CHECK(coroutine.time.waiting_ns == 0);
        CHECK(found.trace.tasks[coroutine.parent].fiber);
    }

    TEST_CASE("an algorithm with properties keeps them") {
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

    TEST_CASE("an algorithm may be put in another's place while fibers are ready") {
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
        CHECK(found.event("on the thread").task == analysis::none);
        REQUIRE(fibers_of(found).size() == 3);
        for (const auto* each : fibers_of(found))
            CHECK(each->state == analysis::task_state::finished);
        std::set<std::uint32_t> tasks;
        for (const auto* event : found.events("moved")) tasks.insert(event->task);
        CHECK(tasks.size() == 3);
    }

    TEST_CASE("fibers that are stolen by other threads stay themselves") {
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
            // Workers spin in their scheduler until all fibers of all threads are done.
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
                while (left.load() != 0) boost::this_fiber::yield();
            };
            std::vector<std::thread> pool;
            for (int each = 0; each < threads; ++each) pool.emplace_back(work, each == 0);
            for (std::thread& each : pool) each.join();
        }
        const recorded found = session.stop();
        const auto all = fibers_of(found);
        CHECK(all.size() == fibers);
        std::set<std::uint32_t> threads_seen;
        for (const auto* each : all) {
            check_whole(found, *each);
            CHECK(each->slices.size() >= rounds + 1);
            CHECK(each->slices.size() == each->awaits.size() + 1);
            CHECK(each->time.suspended_ns == 0);
            for (const std::uint32_t slice : each->slices)
                threads_seen.insert(found.trace.slices[slice].thread);
        }
        CHECK(threads_seen.size() > 1);
        std::map<std::uint32_t, int> rounds_of;
        for (const auto* event : found.events("round")) ++rounds_of[event->task];
        CHECK(rounds_of.size() == fibers);
        for (const auto& [task, count] : rounds_of) CHECK(count == rounds);
    }
}
