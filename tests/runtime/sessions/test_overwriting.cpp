// SPDX-License-Identifier: Apache-2.0

// A flight recorder whose ring has gone round: the records in it have their labels, tasks and
// attributes as if no record had been overwritten.

#include <coroscope/attribute.hpp>
#include <coroscope/context.hpp>
#include <coroscope/range.hpp>
#include <coroscope/record_function.hpp>

#include <coroutine>
#include <optional>
#include <thread>

#include "../support/foreign.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using manual_task = foreign::manual<foreign::declared>;
using eager_task = foreign::eager<int, foreign::declared>;

constexpr std::uint32_t chunk_bytes = 4096;

profile_options ring(std::size_t chunks = 16) {
    return {.all_threads = true,
            .policy = overflow::overwrite_oldest,
            .limit_bytes = 4096 + chunks * chunk_bytes,
            .chunk_bytes = chunk_bytes};
}

// Suspends until resume() is called for it.
struct gate {
    std::coroutine_handle<> parked;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) noexcept { parked = handle; }
    void await_resume() const noexcept {}
    void open() const { parked.resume(); }
};

std::string_view carried(const analysis::trace& trace, const analysis::event& event,
                         std::string_view key) {
    const std::uint32_t value = analysis::attribute_value(trace, event.attribute, key);
    return value == analysis::none ? "none" : std::string_view(trace.strings[value]);
}

// The number of events of that label that carry another value.
std::size_t strangers(const analysis::trace& trace, std::string_view label, std::string_view value,
                      std::string_view key = "tenant") {
    std::size_t found = 0;
    for (const analysis::event& event : trace.events)
        if (label_of(trace, event) == label && carried(trace, event, key) != value) ++found;
    return found;
}

void work(std::uint64_t count) {
    for (std::uint64_t number = 0; number < count; ++number) {
        COROSCOPE("work");
    }
}

manual_task long_request(gate& place, int rounds) {
    COROSCOPE("request");
    const attribute tenant("tenant", "acme");
    const attribute request("request", 7);
    for (int round = 0; round < rounds; ++round) {
        COROSCOPE("round");
        work(3);
        co_await place;
    }
}

task<void> child() {
    work(5);
    co_return;
}

task<void> parent() {
    co_await child();
    COROSCOPE("after the child");
}

eager_task eager_child() { co_return 1; }
eager_task eager_parent(gate& place) {
    co_await place;
    co_return co_await eager_child();
}

}  // namespace

TEST_SUITE("overwriting") {
    TEST_CASE("a coroutine that starts as it is created loses nothing in a ring with room for all "
              "records") {
        gate place;
        profile session(ring());
        const eager_task at_once = eager_child();
        const eager_task waits = eager_parent(place);
        place.open();
        const analysis::trace trace = load(session.stop());
        CHECK(waits.done());
        CHECK(trace.health.overwritten == 0);
        CHECK(trace.tasks.size() == 3);
        for (const analysis::task_info& task : trace.tasks) CHECK_FALSE(task.losses);
    }

    TEST_CASE("attributes that a thread carries from before the ring went round are known") {
        profile session(ring());
        {
            const attribute tenant("tenant", "acme");
            const attribute request("request", "first");
            work(20'000);
        }
        steps(100);
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten > 0);
        CHECK(count(trace, "work") > 1000);
        CHECK(strangers(trace, "work", "acme") == 0);
        CHECK(strangers(trace, "work", "first", "request") == 0);
        CHECK(strangers(trace, "step 3", "none") == 0);
    }

    TEST_CASE("attributes of a task that began before the ring went round are known, at each "
              "position of the cut") {
        for (std::uint64_t shift = 0; shift < 16; ++shift) {
            profile session(ring());
            steps(shift);
            gate place;
            auto request = long_request(place, 500);
            request.resume();
            for (int round = 1; round < 500; ++round) {
                steps(7);
                place.open();
            }
            const analysis::trace trace = load(session.stop());
            place.open();
            CHECK(trace.health.overwritten > 0);
            CHECK(count(trace, "work") > 100);
            CHECK(strangers(trace, "work", "acme") == 0);
            CHECK(strangers(trace, "work", "7", "request") == 0);
            CHECK(strangers(trace, "round", "acme") == 0);
            CHECK(strangers(trace, "step 3", "none") == 0);
        }
    }

    TEST_CASE("a scope that began before an attribute does not carry it") {
        profile session(ring());
        gate place;
        auto request = long_request(place, 500);
        request.resume();
        for (int round = 0; round < 500; ++round) {
            steps(7);
            place.open();
        }
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten > 0);
        CHECK(count(trace, "request") == 1);
        CHECK(strangers(trace, "request", "none") == 0);
        CHECK(strangers(trace, "round", "acme") == 0);
    }

    TEST_CASE("tasks that inherit an attribute show it, and so do the scopes after them") {
        for (std::uint64_t shift = 0; shift < 16; ++shift) {
            profile session(ring());
            steps(shift);
            {
                const attribute tenant("tenant", "acme");
                for (int number = 0; number < 600; ++number) {
                    sync_wait(parent());
                    work(1);
                }
            }
            const analysis::trace trace = load(session.stop());
            CHECK(trace.health.overwritten > 0);
            CHECK(strangers(trace, "work", "acme") == 0);
            CHECK(strangers(trace, "after the child", "acme") == 0);
            std::size_t without = 0;
            for (const analysis::task_info& task : trace.tasks)
                without += task.attribute == analysis::none ? 1U : 0U;
            CHECK(without == 0);
        }
    }

    TEST_CASE("the end of a callback's context leaves the attributes around it as they were") {
        profile session(ring());
        context captured;
        {
            const attribute other("tenant", "other");
            captured = current_context();
        }
        const attribute tenant("tenant", "acme");
        for (int number = 0; number < 2000; ++number) {
            work(2);
            const context_guard guard(captured);
            COROSCOPE("callback");
        }
        work(1);
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten > 0);
        CHECK(strangers(trace, "work", "acme") == 0);
    }

    TEST_CASE("a range that began before the ring went round has its label, on whichever thread it "
              "ends") {
        profile session(ring());
        std::optional<record_function> block;
        block.emplace("long block " + std::to_string(1));
        range shared("long range " + std::to_string(2));
        const record_function never("never ends");
        steps(20'000);
        block.reset();
        std::thread([&] {
            const record_function own("of the other thread");
            steps(100);
            shared.end();
        }).join();
        steps(100);
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten > 0);
        CHECK(count(trace, "long block 1") == 1);
        CHECK(count(trace, "long range 2") == 1);
        CHECK(count(trace, "of the other thread") == 1);
        CHECK(count(trace, "unknown label") == 0);
        CHECK(trace.health.open_ranges == 0);
    }

    TEST_CASE("a label that is recorded again does not count as another range") {
        profile session(ring(96));
        for (int number = 0; number < 50; ++number) {
            const record_function outer("outer");
            steps(300);
        }
        const analysis::trace trace = load(session.stop());
        CHECK(trace.health.overwritten == 0);
        CHECK(count(trace, "outer") == 50);
        CHECK(trace.health.open_ranges == 0);
    }

    TEST_CASE("attributes that each request sets anew take no room from the ring") {
        profile session(ring(32));
        for (int number = 0; number < 20'000; ++number) {
            const attribute request("request", number);
            work(1);
        }
        const analysis::trace trace = load(session.stop());
        CHECK(count(trace, "work") > 300);
        CHECK(strangers(trace, "work", "none", "request") == count(trace, "work"));
    }
}
