// SPDX-License-Identifier: Apache-2.0

// Ranges whose label is known at run time.

#include <coroscope/range.hpp>
#include <coroscope/record_function.hpp>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "../support/awaitables.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> range_over_pause(slot& into) {
    const record_function range(std::string("in frame"));
    co_await suspend_into(into);
}

}  // namespace

TEST_SUITE("record_function") {
    TEST_CASE("the label may be a temporary: it is copied when the range begins") {
        recording session;
        {
            const record_function range(std::string("request ") + std::to_string(7));
            const record_function inner(std::string_view("inner, cut here", 5));
        }
        const recorded found = session.stop();
        CHECK(&found.trace.events[found.event("inner").parent] == &found.event("request 7"));
    }

    TEST_CASE("an empty label is a label, and a null pointer is an empty label") {
        const char* const none = std::getenv("COROSCOPE_TEST_NO_SUCH_VARIABLE");
        recording session;
        {
            const record_function scope(std::string_view{});
            const record_function other("");
            const record_function null(none);
            range(none).end();
        }
        CHECK(session.stop().count("") == 4);
    }

    TEST_CASE("a decorated callable records each call and keeps arguments, result and exceptions") {
        recording session;
        auto timed = record_function::of("decorated", [](std::unique_ptr<int> value) {
            if (*value < 0) throw std::runtime_error("negative");
            return value;
        });
        CHECK(*timed(std::make_unique<int>(3)) == 3);
        CHECK_THROWS_AS(timed(std::make_unique<int>(-1)), std::runtime_error);
        CHECK(session.stop().count("decorated") == 2);
    }

    TEST_CASE("members can be decorated") {
        struct counter {
            int value = 1;
            int plus(int added) const { return value + added; }
        };
        recording session;
        counter counted;
        auto plus = record_function::of("member", &counter::plus);
        CHECK(plus(counted, 2) == 3);
        CHECK(plus(&counted, 3) == 4);
        auto value = record_function::of("field", &counter::value);
        value(counted) = 5;
        CHECK(counted.value == 5);
        const recorded found = session.stop();
        CHECK(found.count("member") == 2);
        CHECK(found.count("field") == 1);
    }

    TEST_CASE("a range may end on another thread than it began") {
        recording session;
        record_function range;
        range.begin("handed over");
        std::thread([&range] { range.end(); }).join();
        const recorded found = session.stop();
        const auto& event = found.event("handed over");
        CHECK((event.flags & analysis::event_explicit) != 0);
        CHECK((event.flags & analysis::event_async) != 0);
        CHECK(found.end_thread(event) != event.thread);
    }

    TEST_CASE("ending a range twice, or without a beginning, does nothing") {
        recording session;
        record_function range;
        range.end();
        range.begin("once");
        range.end();
        range.end();
        CHECK(session.stop().count("once") == 1);
    }

    TEST_CASE("beginning an open range ends it before the new range begins") {
        recording session;
        record_function range;
        range.begin("first");
        range.begin("second");
        range.end();
        const recorded found = session.stop();
        CHECK(found.event("first").end_ns <= found.event("second").start_ns);
    }

    TEST_CASE("a range that never ends is shown as open and does no harm") {
        alignas(record_function) unsigned char storage[sizeof(record_function)];
        recording session;
        auto* never = new (storage) record_function;
        never->begin("never ended");
        CHECK((session.stop().event("never ended").flags & analysis::event_open) != 0);
        never->~record_function();
    }

    TEST_CASE("a range that began without a session stays out of a later session") {
        record_function range;
        range.begin("too early");
        recording session;
        range.end();
        CHECK(session.stop().count("too early") == 0);
    }

    TEST_CASE("the time of a range in a coroutine's frame divides as the task's time") {
        recording session;
        slot into;
        auto coroutine = range_over_pause(into);
        coroutine.resume();
        spin(std::chrono::microseconds(1));
        into.resume();
        const recorded found = session.stop();
        const auto& event = found.event("in frame");
        CHECK(event.task == found.task_index("range_over_pause"));
        CHECK((event.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.split(event).waiting_ns > 0);
        CHECK(found.split(event).wall_ns() == event.end_ns - event.start_ns);
    }
}
