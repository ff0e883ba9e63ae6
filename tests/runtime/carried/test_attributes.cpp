// SPDX-License-Identifier: Apache-2.0

// Attributes follow the work, during a session and without one.

#include <coroscope/attribute.hpp>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/views.hpp>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../support/awaitables.hpp"
#include "../support/build.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using manual_task = foreign::manual<foreign::declared>;

std::string current(const char* key) {
    const attribute_value found = current_attribute(key);
    return found ? std::string(found.data(), found.size()) : "none";
}

std::string carried(const recorded& found, std::string_view event,
                    std::string_view key = "tenant") {
    const std::uint32_t value =
        analysis::attribute_value(found.trace, found.event(event).attribute, key);
    return value == analysis::none ? "none" : found.trace.strings[value];
}

task<std::string> reads_inside() {
    COROSCOPE("child");
    co_return current("tenant");
}

manual_task hops(slot& into, std::vector<std::string>& seen) {
    COROSCOPE("around");
    {
        const attribute tenant("tenant", "acme");
        COROSCOPE("inside");
        seen.push_back(current("tenant"));
        co_await suspend_into(into);
        seen.push_back(current("tenant"));
        seen.push_back(co_await reads_inside());
    }
    COROSCOPE("after");
    seen.push_back(current("tenant"));
}

manual_task keeps_its_own(slot& into, std::string tenant, int& wrong) {
    const attribute carries("tenant", tenant);
    for (int round = 0; round < 50; ++round) {
        if (current("tenant") != tenant) ++wrong;
        co_await suspend_into(into);
    }
    if (current("tenant") != tenant) ++wrong;
}

manual_task checks_nothing_is_carried(slot& into, std::vector<std::string>& seen) {
    seen.push_back(current("tenant"));
    co_await suspend_into(into);
    seen.push_back(current("tenant"));
}

// The values that a coroutine and its resumers see in turn. The coroutine sets an attribute of its
// own, and goes on on another thread.
std::vector<std::string> run_hops() {
    slot place;
    std::vector<std::string> seen;
    auto coroutine = hops(place, seen);
    coroutine.resume();
    seen.push_back(current("tenant"));
    std::thread([&] {
        place.resume();
        seen.push_back(current("tenant"));
    }).join();
    return seen;
}

manual_task destroys_later(slot& into, std::optional<manual_task>& other,
                           std::vector<std::string>& seen) {
    co_await suspend_into(into);
    other.reset();
    seen.push_back(current("tenant"));
    {
        const attribute own("tenant", "own");
        co_await suspend_into(into);
        seen.push_back(current("tenant"));
    }
    seen.push_back(current("tenant"));
}

manual_task starts_under_attribute(slot& into, std::function<void()> start) {
    const attribute request("request", 42);
    const attribute tenant("tenant", "acme");
    start();
    co_await suspend_into(into);
}

// Returns the attribute's values in a coroutine that destroys the coroutine under whose attribute
// it was started.
std::vector<std::string> destroy_its_starter() {
    slot places[2];
    std::vector<std::string> seen;
    std::optional<manual_task> starter;
    std::optional<manual_task> started;
    starter.emplace(starts_under_attribute(places[0], [&] {
        started.emplace(destroys_later(places[1], starter, seen));
        started->resume();
    }));
    starter->resume();
    places[1].resume();
    seen.push_back(current("tenant"));
    places[1].resume();
    seen.push_back(current("tenant"));
    return seen;
}
const std::vector<std::string> as_started{"acme", "none", "own", "acme", "none"};

const std::vector<std::string> as_it_should{"acme", "none", "acme", "acme", "none", "none"};

}  // namespace

TEST_SUITE("attributes") {
    TEST_CASE("a null key or value counts as empty") {
        const char* nothing = nullptr;
        CHECK_FALSE(current_attribute(nothing));
        const attribute without_value("key", nothing);
        REQUIRE(current_attribute("key"));
        CHECK(current_attribute("key").size() == 0);
        const attribute without_key(nothing, 7);
        CHECK(current_attribute(nothing).size() == 1);
        CHECK(current_attribute("").size() == 1);
    }

    TEST_CASE("an attribute is carried to the end of its block, across suspensions and threads") {
        recording session;
        CHECK(run_hops() == as_it_should);
        const recorded found = session.stop();
        CHECK(carried(found, "around") == "none");
        CHECK(carried(found, "inside") == "acme");
        CHECK(carried(found, "child") == "acme");
        CHECK(carried(found, "after") == "none");
    }

    TEST_CASE("attributes follow the work without a session") { CHECK(run_hops() == as_it_should); }

    TEST_CASE(
        "the inner of two attributes with one key counts, and other keys are seen beside it") {
        const attribute outer("tenant", "outer");
        const attribute request("request", 42);
        {
            const attribute inner("tenant", std::string("inner"));
            CHECK(current("tenant") == "inner");
            CHECK(current("request") == "42");
        }
        CHECK(current("tenant") == "outer");
        CHECK(current("ten") == "none");
        CHECK(current("") == "none");
    }

    TEST_CASE("a task does not see the attribute of the caller that resumes it") {
        slot place;
        std::vector<std::string> seen;
        auto coroutine = checks_nothing_is_carried(place, seen);
        coroutine.resume();
        {
            const attribute other("tenant", "other");
            place.resume();
            CHECK(current("tenant") == "other");
        }
        CHECK(seen == std::vector<std::string>{"none", "none"});
    }

    TEST_CASE("many coroutines on one thread keep their own attributes") {
        std::vector<slot> slots(20);
        std::vector<manual_task> coroutines;
        int wrong = 0;
        recording session;
        for (std::size_t index = 0; index < slots.size(); ++index)
            coroutines.push_back(
                keeps_its_own(slots[index], "tenant " + std::to_string(index), wrong));
        for (auto& each : coroutines) each.resume();
        for (int round = 0; round < 50; ++round)
            for (slot& each : slots) each.resume();
        CHECK(wrong == 0);
        CHECK(current("tenant") == "none");
        session.stop();
    }

    TEST_CASE("work keeps the attribute that it was started under after the attribute's block has "
              "ended") {
        recording session;
        thread_executor pool;
        executor_adaptor adaptor(pool);
        std::function<std::string()> later;
        {
            const attribute tenant("tenant", "acme");
            adaptor.execute([] { COROSCOPE("job"); });
            later = propagate([] {
                COROSCOPE("callback");
                return current("tenant");
            });
        }
        CHECK(current("tenant") == "none");
        CHECK(later() == "acme");
        pool.join();
        {
            COROSCOPE("unrelated");
        }
        const recorded found = session.stop();
        CHECK(carried(found, "job") == "acme");
        CHECK(carried(found, "callback") == "acme");
        CHECK(carried(found, "unrelated") == "none");
    }

    TEST_CASE("work keeps the attribute that it was started under after it destroys the frame that "
              "set it") {
        CHECK(destroy_its_starter() == as_started);
        recording session;
        CHECK(destroy_its_starter() == as_started);
    }

    TEST_CASE("a job keeps the attribute that it was posted under after it destroys the frame that "
              "set it") {
        slot place;
        manual_executor pool;
        executor_adaptor adaptor(pool);
        std::vector<std::string> seen;
        std::optional<manual_task> poster;
        poster.emplace(starts_under_attribute(place, [&] {
            adaptor.execute([&] {
                poster.reset();
                seen.push_back(current("tenant"));
                {
                    const attribute own("tenant", "own");
                    seen.push_back(current("tenant"));
                }
                seen.push_back(current("tenant"));
            });
        }));
        poster->resume();
        pool.run();
        CHECK(seen == std::vector<std::string>{"acme", "own", "acme"});
        CHECK(current("tenant") == "none");
    }

    TEST_CASE("a callback that adds an attribute changes nothing for the task it comes from") {
        recording session;
        slot place;
        const auto body = [](slot& into) -> manual_task {
            const attribute tenant("tenant", "acme");
            std::thread(propagate([] {
                const attribute part("tenant", "part");
                COROSCOPE("in callback");
            })).join();
            co_await suspend_into(into);
            COROSCOPE("in task");
        };
        auto coroutine = body(place);
        coroutine.resume();
        place.resume();
        const recorded found = session.stop();
        CHECK(carried(found, "in callback") == "part");
        CHECK(carried(found, "in task") == "acme");
    }

    TEST_CASE(
        "a frame that is destroyed while it is suspended leaves the destroyer's attributes alone") {
        slot place;
        int wrong = 0;
        const attribute mine("tenant", "mine");
        {
            auto coroutine = keeps_its_own(place, "theirs", wrong);
            coroutine.resume();
        }
        CHECK(wrong == 0);
        CHECK(current("tenant") == "mine");
    }

    TEST_CASE("a session that starts later records the attributes that are carried already") {
        slot place;
        const auto body = [](slot& into) -> manual_task {
            const attribute tenant("tenant", "acme");
            const attribute request("request", -7);
            co_await suspend_into(into);
            COROSCOPE("in task");
        };
        auto coroutine = body(place);
        coroutine.resume();
        recording session;
        place.resume();
        const recorded found = session.stop();
        CHECK(carried(found, "in task") == "acme");
        CHECK(carried(found, "in task", "request") == "-7");
    }

    TEST_CASE("text that is too long is cut, and an empty text is a value") {
        const attribute large("key", std::string(1000, 'x'));
        CHECK(current("key") == std::string(attribute_bytes - 3, 'x'));
        const attribute empty("key", "");
        CHECK(current_attribute("key"));
        CHECK(current("key").empty());
    }

    TEST_CASE(
        "attributes give their room back: a million of them in turn need no room for a million") {
        for (int round = 0; round < 1'200'000; ++round) {
            const attribute request("request", round);
            if (round % 100'000 == 0) CHECK(current("request") == std::to_string(round));
        }
        const attribute last("request", "last");
        CHECK(current("request") == "last");
    }

    // It uses one thread, and ThreadSanitizer makes it ten times slower.
    TEST_CASE("an attribute without room is unknown and counted, and never shows another "
              "attribute's value" *
              doctest::skip(thread_sanitized)) {
        recording session;
        std::vector<context> kept;
        const attribute outer("tenant", "outer");
        while (kept.size() < (std::size_t{1} << 20)) {
            const attribute request("request", kept.size());
            if (!current_attribute("request")) break;
            kept.push_back(current_context());
        }
        REQUIRE(kept.size() < (std::size_t{1} << 20));
        {
            const attribute inner("tenant", "inner");
            CHECK_FALSE(current_attribute("tenant"));
            COROSCOPE("without room");
            const attribute nested("tenant", "nested");
            COROSCOPE("nested without room");
            CHECK_FALSE(current_attribute("tenant"));
            const context held = current_context();
            kept.resize(kept.size() / 2);
            const attribute again("request", "again");
            CHECK(current("request") == "again");
            CHECK_FALSE(current_attribute("tenant"));
            COROSCOPE("above it");
        }
        CHECK(current("tenant") == "outer");
        COROSCOPE("behind it");
        const recorded found = [&] {
            COROSCOPE("last");
            return session.stop();
        }();
        for (const char* name : {"without room", "nested without room", "above it"})
            CHECK(carried(found, name) == "(unknown)");
        CHECK(carried(found, "above it", "request") == "again");
        // One in the loop, and two here.
        CHECK(found.trace.health.attributes_without_room == 3);
        CHECK(
            analysis::loss_notes(found.trace)
                .find("Attributes that had no room: 3, unknown in the scopes that carry them\n") !=
            std::string::npos);
    }

    TEST_CASE("averages keep the values of an attribute apart") {
        recording session;
        for (const char* name : {"acme", "initech", "acme"}) {
            const attribute tenant("tenant", name);
            COROSCOPE("answer");
        }
        {
            COROSCOPE("answer");
        }
        const recorded found = session.stop();
        std::string rows;
        for (const auto& row :
             analysis::key_averages(found.trace, analysis::average_key::attribute, "tenant")) {
            rows += row.group == analysis::none ? "none" : found.trace.strings[row.group];
            rows.append(" ").append(std::to_string(row.count)).append(", ");
        }
        CHECK(rows == "acme 2, initech 1, none 1, ");
        CHECK(analysis::key_averages(found.trace).size() == 1);
    }
}
