// SPDX-License-Identifier: Apache-2.0

// Ranges that end with the future of a coroscope::promise, and the promise as a replacement of
// std::promise.

#include <coroscope/future.hpp>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("promise") {
    TEST_CASE("the future gives the value after the range has ended") {
        recording session;
        journal happened;
        promise<int> answer;
        const range query("query");
        query.on_end(happened.noting("ended"));
        future<int> pending = call_end_callbacks_on_future(query, answer.get_future());
        CHECK_FALSE(query.ended());
        answer.set_value(42);
        happened.note("set");
        CHECK(pending.get() == 42);
        CHECK(happened.words() == words{"ended", "set"});
        CHECK((session.stop().event("query").flags & analysis::event_open) == 0);
    }

    TEST_CASE("end callbacks run before the future is ready") {
        promise<int> answer;
        shared_future<int> all = answer.get_future().share();
        bool was_ready = true;
        const range ends("watched");
        ends.on_end([&] {
            was_ready = all.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
        const shared_future<int> attached = call_end_callbacks_on_future(ends, all);
        answer.set_value(1);
        CHECK_FALSE(was_ready);
        CHECK(attached.get() == 1);
    }

    TEST_CASE("an exception comes through, and ends the range") {
        promise<int> answer;
        const range ends("fails");
        future<int> pending = call_end_callbacks_on_future(ends, answer.get_future());
        answer.set_exception(an_error("no rows"));
        CHECK(ends.ended());
        CHECK(message_of([&] { pending.get(); }) == "no rows");
    }

    TEST_CASE("a broken promise ends the range and breaks the future") {
        const range ends("abandoned");
        future<int> pending;
        {
            promise<int> answer;
            pending = call_end_callbacks_on_future(ends, answer.get_future());
            CHECK_FALSE(ends.ended());
        }
        CHECK(ends.ended());
        CHECK_THROWS_AS(pending.get(), std::future_error);
    }

    TEST_CASE("a complete future ends the range at its attachment") {
        promise<int> answer;
        future<int> complete = answer.get_future();
        answer.set_value(7);
        const range ends("complete already");
        complete = call_end_callbacks_on_future(ends, std::move(complete));
        CHECK(ends.ended());
        CHECK(complete.get() == 7);
    }

    TEST_CASE("values may be void, references, move-only, or throw when copied") {
        const range ends("void");
        promise<void> nothing;
        future<void> done = call_end_callbacks_on_future(ends, nothing.get_future());
        nothing.set_value();
        done.get();

        int target = 1;
        promise<int&> reference;
        future<int&> referred =
            call_end_callbacks_on_future(range("reference"), reference.get_future());
        reference.set_value(target);
        CHECK(&referred.get() == &target);

        promise<only_moves> moved;
        future<only_moves> taken =
            call_end_callbacks_on_future(range("move-only"), moved.get_future());
        moved.set_value(only_moves(3));
        CHECK(*taken.get().value == 3);

        struct throws_when_copied {
            throws_when_copied() = default;
            throws_when_copied(throws_when_copied&&) = default;
            throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copied"); }
        };
        promise<throws_when_copied> refused;
        const range kept("kept open");
        auto pending = call_end_callbacks_on_future(kept, refused.get_future());
        const throws_when_copied value;
        CHECK(message_of([&] { refused.set_value(value); }) == "copied");
        CHECK_FALSE(kept.ended());
        refused.set_value({});
        CHECK(kept.ended());
    }

    TEST_CASE("the future is a std::future, and takes a range before it is passed as one") {
        promise<int> answer;
        const range ends("sliced");
        std::future<int> plain = call_end_callbacks_on_future(ends, answer.get_future());
        std::shared_future<int> shared = plain.share();
        std::thread([&answer] { answer.set_value(5); }).join();
        CHECK(shared.get() == 5);
        CHECK(ends.ended());
    }

    TEST_CASE("a second future is refused, returned unchanged, and counted") {
        const auto before = current_range_faults().attached_twice;
        promise<int> first;
        promise<int> second;
        const range once("once");
        future<int> one = call_end_callbacks_on_future(once, first.get_future());
        future<int> other = call_end_callbacks_on_future(once, second.get_future());
        CHECK(current_range_faults().attached_twice == before + 1);
        second.set_value(2);
        CHECK_FALSE(once.ended());
        CHECK(other.get() == 2);
        first.set_value(1);
        CHECK(once.ended());
        CHECK(one.get() == 1);
    }

    TEST_CASE("a range that was ended by hand lets the future complete as usual") {
        promise<int> answer;
        int ends = 0;
        const range early("ended by hand");
        early.on_end([&ends] { ++ends; });
        future<int> pending = call_end_callbacks_on_future(early, answer.get_future());
        early.end();
        answer.set_value(3);
        CHECK(pending.get() == 3);
        CHECK(ends == 1);
    }

    TEST_CASE("the attached future keeps a range without handles open") {
        promise<int> answer;
        bool ended = false;
        future<int> pending;
        {
            const range ends("handle gone");
            ends.on_end([&ended] { ended = true; });
            pending = call_end_callbacks_on_future(ends, answer.get_future());
        }
        CHECK_FALSE(ended);
        answer.set_value(1);
        CHECK(ended);
    }

    TEST_CASE("end callbacks run under the context of the attachment, which does not stay on the "
              "thread") {
        const auto context_in_callback = [](auto complete) {
            promise<int> answer;
            const range ends("under a context");
            context seen;
            ends.on_end([&seen] { seen = current_context(); });
            future<int> pending;
            context attached_in;
            attached_in.task = 4711;
            {
                const context_guard guard(attached_in);
                pending = call_end_callbacks_on_future(ends, answer.get_future());
            }
            context left;
            std::thread([&] {
                complete(answer);
                left = current_context();
            }).join();
            CHECK(left.task == 0);
            return seen.task;
        };
        CHECK(context_in_callback([](promise<int>& answer) { answer.set_value(1); }) == 4711);
        CHECK(context_in_callback([](promise<int>& answer) {
                  const promise<int> gone(std::move(answer));
              }) == 4711);
    }

    TEST_CASE(
        "a value that is set for the thread's exit ends the range before the future is ready") {
        promise<int> answer;
        const range ends("at exit");
        future<int> pending = call_end_callbacks_on_future(ends, answer.get_future());
        bool ready = true;
        std::thread([&] {
            answer.set_value_at_thread_exit(9);
            ready = pending.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        }).join();
        CHECK_FALSE(ready);
        CHECK(ends.ended());
        CHECK(pending.get() == 9);
    }

    TEST_CASE("misuse has the same result as in the standard library") {
        promise<int> answer;
        future<int> pending = answer.get_future();
        CHECK_THROWS_AS(static_cast<void>(answer.get_future()), std::future_error);
        answer.set_value(1);
        CHECK_THROWS_AS(answer.set_value(2), std::future_error);
        CHECK_THROWS_AS(answer.set_exception(an_error("late")), std::future_error);
        CHECK(pending.get() == 1);
        promise<int> moved(std::move(answer));
        // NOLINTNEXTLINE(bugprone-use-after-move): the moved-from state is specified
        CHECK_THROWS_AS(answer.set_value(3), std::future_error);
        CHECK_THROWS_AS(static_cast<void>(answer.get_future()), std::future_error);
        future<int> invalid;
        CHECK_FALSE(invalid.valid());
        const range ends("of an invalid future");
        invalid = call_end_callbacks_on_future(ends, std::move(invalid));
        CHECK_FALSE(invalid.valid());
        CHECK(ends.ended());
    }

    TEST_CASE("a borrowed range ends with its future") {
        recording session;
        const auto before = current_range_faults().borrowed_died_early;
        promise<int> answer;
        {
            record_function query("borrowed");
            int ends = 0;
            query.on_end([&ends] { ++ends; });
            future<int> pending = call_end_callbacks_on_future(query, answer.get_future());
            answer.set_value(1);
            CHECK(ends == 1);
            query.end();
            CHECK(ends == 1);
            CHECK(pending.get() == 1);
        }
        CHECK(current_range_faults().borrowed_died_early == before);
        CHECK(session.stop().count("borrowed") == 1);
    }

    TEST_CASE(
        "a borrowed range that dies before its future is reported, ends there, and does no harm") {
        recording session;
        const auto before = current_range_faults().borrowed_died_early;
        promise<int> answer;
        future<int> pending;
        bool ended = false;
        {
            record_function query("died early");
            query.on_end([&ended] { ended = true; });
            pending = call_end_callbacks_on_future(query, answer.get_future());
        }
        CHECK(ended);
        CHECK(current_range_faults().borrowed_died_early == before + 1);
        answer.set_value(8);
        CHECK(pending.get() == 8);
        CHECK(session.stop().count("died early") == 1);
    }

    TEST_CASE("the end of a block and the completing thread do not race") {
        constexpr int rounds = 2000;
        recording session;
        for (int round = 0; round < rounds; ++round) {
            promise<int> answer;
            std::atomic<int> ends{0};
            std::thread producer;
            future<int> pending;
            {
                record_function borrowed("raced");
                borrowed.on_end([&ends] { ++ends; });
                pending = call_end_callbacks_on_future(borrowed, answer.get_future());
                producer = std::thread([&answer] { answer.set_value(1); });
            }
            CHECK(ends.load() == 1);
            CHECK(pending.get() == 1);
            producer.join();
            REQUIRE(ends.load() == 1);
        }
        CHECK(session.stop().count("raced") == rounds);
    }

    TEST_CASE("attaching while another thread completes ends the range once, before the future's "
              "value is there") {
        constexpr int rounds = 2000;
        for (int round = 0; round < rounds; ++round) {
            promise<int> answer;
            future<int> pending = answer.get_future();
            std::thread producer([&answer] { answer.set_value(1); });
            std::atomic<int> ends{0};
            const range contended("attached while completing");
            contended.on_end([&ends] { ++ends; });
            pending = call_end_callbacks_on_future(contended, std::move(pending));
            CHECK(pending.get() == 1);
            REQUIRE(ends.load() == 1);
            producer.join();
        }
    }

    TEST_CASE("completions that are in flight while the session stops are recorded, shown as open, "
              "or counted late") {
        constexpr int rounds = 50;
        constexpr std::size_t ranges = 64;
        for (int round = 0; round < rounds; ++round) {
            const auto before = current_range_faults().ends_after_stop;
            profile session(profile_options{.all_threads = true});
            std::vector<promise<int>> answers(ranges);
            std::vector<future<int>> pending;
            for (auto& answer : answers)
                pending.push_back(
                    call_end_callbacks_on_future(range("in flight"), answer.get_future()));
            std::thread producer([&answers] {
                for (auto& answer : answers) answer.set_value(1);
            });
            auto loaded = analysis::load(session.stop());
            producer.join();
            REQUIRE(loaded);
            CHECK(loaded->events.size() == ranges);
            const auto late = current_range_faults().ends_after_stop - before;
            CHECK(loaded->health.open_ranges >= late);
            for (auto& each : pending) CHECK(each.get() == 1);
        }
    }
}
