// SPDX-License-Identifier: Apache-2.0

// step_tracker: one count of steps for the process.

#include <coroscope/step_tracker.hpp>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace coroscope;

namespace {

struct seen_steps {
    std::int64_t calls = 0;
    std::int64_t step = -1;
    std::int64_t sum = 0;
    static void note(void* data, std::int64_t step, std::int64_t delta) noexcept {
        auto& mine = *static_cast<seen_steps*>(data);
        ++mine.calls;
        mine.step = step;
        mine.sum += delta;
    }
};

// The counts belong to the process: a test case continues the counts of the one before.
struct watched {
    seen_steps seen;
    int handle = step_tracker::add_observer(seen_steps::note, &seen);
    watched() = default;
    watched(const watched&) = delete;
    watched& operator=(const watched&) = delete;
    ~watched() { step_tracker::remove_observer(handle); }
};

}  // namespace

TEST_SUITE("step_tracker") {
    TEST_CASE("before the first step the count is -1, and a first increment makes it 0") {
        CHECK(step_tracker::current() == -1);
        CHECK(step_tracker::increment("first").step == 0);
        CHECK(step_tracker::current() == 0);
        CHECK(step_tracker::erase("first"));
    }

    TEST_CASE("two requesters that step together do not count twice") {
        const std::int64_t before = step_tracker::current();
        const watched steps;
        step_tracker::init("loop");
        step_tracker::init("optimizer");
        for (int step = 0; step < 10; ++step) {
            CHECK(step_tracker::increment("loop").delta == 1);
            CHECK(step_tracker::increment("optimizer").delta == 0);
        }
        CHECK(step_tracker::current() == before + 10);
        CHECK(steps.seen.calls == 10);
        CHECK(step_tracker::erase("loop"));
        CHECK(step_tracker::erase("optimizer"));
    }

    TEST_CASE("a requester counts from the step of its first call") {
        step_tracker::increment("early");
        step_tracker::increment("early");
        const std::int64_t now = step_tracker::current();
        CHECK(step_tracker::increment("late").step == now + 1);
        CHECK(step_tracker::increment("early").delta == 0);
        step_tracker::erase("early");
        step_tracker::erase("late");
    }

    TEST_CASE("an erased requester is unknown, and its count is forgotten") {
        step_tracker::increment("gone");
        CHECK(step_tracker::erase("gone"));
        CHECK_FALSE(step_tracker::erase("gone"));
        const std::int64_t now = step_tracker::current();
        CHECK(step_tracker::increment("gone").step == now + 1);
        step_tracker::erase("gone");
    }

    TEST_CASE("a leap of the count is passed to observers with its size, and warns the caller") {
        const watched steps;
        const std::int64_t before = step_tracker::current();
        const auto leap = step_tracker::increment("leaping", 3);
        CHECK(leap.delta == 3);
        CHECK(std::string(leap.warning) == "Profiler step count has increased more than 1");
        CHECK(steps.seen.calls == 1);
        CHECK(steps.seen.step == before + 3);
        CHECK(steps.seen.sum == 3);
        CHECK(std::string(step_tracker::increment("leaping").warning).empty());
        step_tracker::erase("leaping");
    }

    TEST_CASE("an observer may step, and a removed observer is not called") {
        static int calls = 0;
        const auto step_too = [](void*, std::int64_t, std::int64_t) noexcept {
            if (++calls == 1) step_tracker::increment("nested");
        };
        const int handle = step_tracker::add_observer(step_too, nullptr);
        step_tracker::init("nested");
        const std::int64_t before = step_tracker::current();
        CHECK(step_tracker::increment("outer").step == before + 1);
        CHECK(calls == 1);
        CHECK(step_tracker::remove_observer(handle));
        CHECK_FALSE(step_tracker::remove_observer(handle));
        step_tracker::increment("outer");
        CHECK(calls == 1);
        step_tracker::erase("outer");
        step_tracker::erase("nested");
    }

    TEST_CASE("a step that an observer adds is passed to all observers after the step that it came "
              "from") {
        const auto add_two = [](void* first, std::int64_t step, std::int64_t) noexcept {
            if (step == *static_cast<std::int64_t*>(first)) step_tracker::increment("inner", 2);
        };
        using heard_steps = std::vector<std::pair<std::int64_t, std::int64_t>>;
        const auto keep = [](void* into, std::int64_t step, std::int64_t delta) noexcept {
            static_cast<heard_steps*>(into)->emplace_back(step, delta);
        };
        step_tracker::init("inner");
        step_tracker::init("outer");
        std::int64_t first = step_tracker::current() + 1;
        heard_steps heard;
        const int adding = step_tracker::add_observer(add_two, &first);
        const int keeping = step_tracker::add_observer(keep, &heard);
        const auto counted = step_tracker::increment("outer");
        CHECK(heard == heard_steps{{first, 1}, {first + 1, 1}});
        CHECK(counted.step == first + 1);
        CHECK(counted.step == step_tracker::current());
        CHECK(counted.delta == 1);
        CHECK(step_tracker::remove_observer(adding));
        CHECK(step_tracker::remove_observer(keeping));
        step_tracker::erase("inner");
        step_tracker::erase("outer");
    }

    TEST_CASE("a requester without a name has the name \"\"") {
        const std::int64_t before = step_tracker::current();
        step_tracker::init(nullptr);
        CHECK(step_tracker::increment(nullptr).step == before + 1);
        CHECK(step_tracker::increment("").step == before + 2);
        CHECK(step_tracker::erase(nullptr));
        CHECK_FALSE(step_tracker::erase(""));
    }

    TEST_CASE("there is room for a fixed number of observers") {
        std::vector<int> handles;
        seen_steps seen;
        while (const int handle = step_tracker::add_observer(seen_steps::note, &seen))
            handles.push_back(handle);
        CHECK(handles.size() == step_tracker::observer_limit);
        for (const int handle : handles) CHECK(step_tracker::remove_observer(handle));
    }

    TEST_CASE("threads that step at the same time lose no step") {
        const watched steps;
        const std::int64_t before = step_tracker::current();
        std::vector<std::thread> threads;
        step_tracker::init("one");
        step_tracker::init("two");
        for (const char* name : {"one", "two"}) {
            threads.emplace_back([name] {
                for (int step = 0; step < 1000; ++step) step_tracker::increment(name);
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(step_tracker::current() == before + 1000);
        CHECK(steps.seen.sum == 1000);
        step_tracker::erase("one");
        step_tracker::erase("two");
    }
}
