// SPDX-License-Identifier: Apache-2.0

// Ranges that end by a call.

#include <coroscope/range.hpp>

#include <array>
#include <barrier>
#include <memory>
#include <optional>

#include "../runtime/support/executors.hpp"
#include "disabled.hpp"
#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

/// Ends the range on the executor's thread, and then resumes there.
class hop_that_ends {
public:
    hop_that_ends(thread_executor& loop, range& ends) noexcept : loop_(&loop), ends_(&ends) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const {
        loop_->post([waiter, ends = ends_] {
            ends->end();
            waiter.resume();
        });
    }
    void await_resume() const noexcept {}

private:
    thread_executor* loop_;
    range* ends_;
};

task<> range_over_hop(thread_executor& loop) {
    range begun("over a hop");
    co_await hop_that_ends(loop, begun);
}

}  // namespace

TEST_SUITE("range") {
    TEST_CASE("a range lasts from its construction to its end, and all handles see the end") {
        recording session;
        range first(std::string("shared"));
        const range second = first;
        CHECK_FALSE(second.ended());
        second.end();
        CHECK(first.ended());
        const recorded found = session.stop();
        const auto& event = found.event("shared");
        CHECK((event.flags & analysis::event_explicit) != 0);
        CHECK((event.flags & analysis::event_open) == 0);
    }

    TEST_CASE("ending a range again does nothing") {
        recording session;
        const range once("once");
        int ends = 0;
        once.on_end([&ends] { ++ends; });
        once.end();
        once.end();
        CHECK(ends == 1);
        CHECK(session.stop().count("once") == 1);
    }

    TEST_CASE("the destruction of the last handle ends the range") {
        recording session;
        bool ended = false;
        {
            std::optional<range> first(std::in_place, "handed on");
            first->on_end([&ended] { ended = true; });
            const range second = *first;
            first.reset();
            CHECK_FALSE(ended);
        }
        CHECK(ended);
        CHECK((session.stop().event("handed on").flags & analysis::event_open) == 0);
    }

    TEST_CASE(
        "end callbacks run in the order of their addition, and at once if the range has ended") {
        journal happened;
        const range ends("callbacks");
        ends.on_end(happened.noting("first"));
        ends.on_end(happened.noting("second"));
        CHECK(happened.words().empty());
        ends.end();
        ends.on_end(happened.noting("late"));
        CHECK(happened.words() == words{"first", "second", "late"});
    }

    TEST_CASE("a callback may add another callback and end the range again") {
        journal happened;
        range ends("nested");
        ends.on_end([&] {
            happened.note("outer");
            ends.on_end(happened.noting("inner"));
            ends.end();
            happened.note("outer done");
        });
        ends.end();
        CHECK(happened.words() == words{"outer", "outer done", "inner"});
    }

    TEST_CASE("a callback may destroy the last handle while the range ends") {
        recording session;
        auto last = std::make_unique<range>("gone in its end");
        last->on_end([&last] { last.reset(); });
        last->end();
        CHECK(last == nullptr);
        CHECK(session.stop().count("gone in its end") == 1);
    }

    TEST_CASE("a callback may be move-only") {
        int seen = 0;
        const range ends("move-only");
        ends.on_end([value = std::make_unique<int>(5), &seen] { seen = *value; });
        ends.end();
        CHECK(seen == 5);
    }

    TEST_CASE("an exception of a callback is dropped, counted, and keeps no other callback from "
              "running") {
        const auto before = current_range_faults().callbacks_that_threw;
        int ran = 0;
        const range ends("throws");
        ends.on_end([] { throw std::runtime_error("from a callback"); });
        ends.on_end([&ran] { ++ran; });
        ends.end();
        ends.on_end([] { throw 1; });
        CHECK(ran == 1);
        CHECK(current_range_faults().callbacks_that_threw == before + 2);
    }

    TEST_CASE("the end is recorded before the callbacks run") {
        recording session;
        range ends("ends first");
        ends.on_end([] { const record_function marker("in the callback"); });
        ends.end();
        const recorded found = session.stop();
        CHECK(found.event("ends first").end_ns <= found.event("in the callback").start_ns);
    }

    TEST_CASE("a range that ends on another thread belongs to the task that began it, and its time "
              "divides as the task's time") {
        recording session;
        thread_executor loop;
        sync_wait(range_over_hop(loop));
        loop.join();
        const recorded found = session.stop();
        const auto& event = found.event("over a hop");
        CHECK(event.task == found.task_index("range_over_hop"));
        CHECK((event.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.end_thread(event) != event.thread);
        CHECK(found.split(event).wall_ns() == event.end_ns - event.start_ns);
        CHECK(found.split(event).waiting_ns > 0);
        CHECK(event.self_running_ns == 0);
    }

    TEST_CASE("a range outside tasks has a length, and counts as waiting") {
        recording session;
        {
            const range begun("outside tasks");
            const record_function inner("called in it");
        }
        const recorded found = session.stop();
        const auto& event = found.event("outside tasks");
        CHECK((event.flags & analysis::event_async) != 0);
        CHECK(found.split(event).waiting_ns == event.end_ns - event.start_ns);
        CHECK(found.event("called in it").parent == analysis::none);
    }

    TEST_CASE("a range that never ends is shown as open, up to the end of the session") {
        recording session;
        const range never("never ended");
        const range ends("ended");
        ends.end();
        const recorded found = session.stop();
        const auto& event = found.event("never ended");
        CHECK((event.flags & analysis::event_open) != 0);
        CHECK(event.end_ns == found.trace.duration_ns);
        CHECK(found.trace.health.open_ranges == 1);
        CHECK(found.count("ended") == 1);
    }

    TEST_CASE("an end after the stop is counted, and reaches no later session") {
        const auto before = current_range_faults().ends_after_stop;
        range late;
        {
            recording session;
            late = range("late");
            CHECK((session.stop().event("late").flags & analysis::event_open) != 0);
        }
        recording next;
        bool ended = false;
        late.on_end([&ended] { ended = true; });
        late.end();
        CHECK(ended);
        CHECK(current_range_faults().ends_after_stop == before + 1);
        const recorded found = next.stop();
        CHECK(found.trace.events.empty());
    }

    TEST_CASE("a range of a thread's own session is recorded there, whichever thread ends it") {
        recording session{profile_options{}};
        const range begun("begun in a local session");
        std::thread([&begun] { begun.end(); }).join();
        const recorded found = session.stop();
        const auto& event = found.event("begun in a local session");
        CHECK((event.flags & analysis::event_open) == 0);
        CHECK(found.end_thread(event) != event.thread);
    }

    TEST_CASE("without a session, ranges run their callbacks and are not recorded") {
        range early("too early");
        recording session;
        int ends = 0;
        early.on_end([&ends] { ++ends; });
        early.end();
        CHECK(ends == 1);
        CHECK(session.stop().count("too early") == 0);
    }

    TEST_CASE("without the profiler ranges and futures work, and record nothing") {
        recording session;
        CHECK(disabled_futures() == 5);
        CHECK(session.stop().trace.events.empty());
    }

    TEST_CASE("a handle without a range counts as ended, and runs callbacks at once") {
        const range none_at_all;
        int ends = 0;
        none_at_all.on_end([&ends] { ++ends; });
        none_at_all.end();
        CHECK(ends == 1);
        CHECK(none_at_all.ended());
    }

    TEST_CASE(
        "the callbacks of a range have run when end() returns, on each thread that calls it") {
        constexpr int rounds = 500;
        constexpr int enders = 4;
        std::array<std::atomic<int>, enders> seen{};
        std::atomic<int> callbacks{0};
        std::barrier turn(enders);
        range contended;
        const auto ender = [&](std::size_t self) {
            for (int round = 0; round < rounds; ++round) {
                turn.arrive_and_wait();
                if (self == 0) {
                    callbacks = 0;
                    contended = range("contended");
                    contended.on_end([&callbacks] { ++callbacks; });
                    contended.on_end([&callbacks] { ++callbacks; });
                }
                turn.arrive_and_wait();
                contended.end();
                if (callbacks.load() == 2) ++seen[self];
                turn.arrive_and_wait();
            }
        };
        std::vector<std::thread> threads;
        for (std::size_t self = 0; self < enders; ++self) threads.emplace_back(ender, self);
        for (std::thread& each : threads) each.join();
        for (const auto& each : seen) CHECK(each.load() == rounds);
    }

    TEST_CASE("callbacks added while others end the range all run once") {
        constexpr int rounds = 2000;
        for (int round = 0; round < rounds; ++round) {
            std::atomic<int> ran{0};
            const range contended("added and ended");
            std::thread adder([&] {
                for (int each = 0; each < 4; ++each) contended.on_end([&ran] { ++ran; });
            });
            contended.end();
            adder.join();
            REQUIRE(ran.load() == 4);
        }
    }
}
