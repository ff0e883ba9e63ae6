// SPDX-License-Identifier: Apache-2.0

// Several awaits in one expression, some of them without a session: under attributes, and with
// sessions that begin and end between them. Also the awaited tasks and the wakers.

#include <coroscope/async_stack.hpp>
#include <coroscope/attribute.hpp>
#include <coroscope/instrumented.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"
#include "../support/stepped_coroutine.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

std::string tenant_here() {
    const attribute_value found = current_attribute("tenant");
    return found ? std::string(found.data(), found.size()) : "none";
}

int sum_of(int first, int second, int third) { return first + second + third; }

stepped adds() {
    const int sum =
        sum_of(co_await value_later{1}, co_await value_later{2}, co_await value_later{4});
    const record_function after("after the sum");
    co_return sum + co_await value_later{8};
}

stepped adds_for(const char* name) {
    const attribute tenant("tenant", name);
    const int sum = co_await value_later{1} + co_await value_later{2};
    const record_function after("after the sum");
    co_return tenant_here() == name ? sum : 0;
}

// Resumes the coroutine under an attribute of the resumer.
void step_for(stepped& coroutine, const char* name) {
    const attribute tenant("tenant", name);
    coroutine.step();
    CHECK(tenant_here() == name);
}

void run_for_others(stepped& coroutine) {
    while (!coroutine.done()) step_for(coroutine, "somebody else");
    CHECK(tenant_here() == "none");
}

// No task runs on this thread after the end of the coroutine.
void check_nobody_runs() {
    CHECK(detail::here().frame == nullptr);
    const std::uint64_t task = detail::here().mark >> detail::mark_thread_bits;
    CHECK(task == 0);
}

task<int> own(int value) { co_return value; }
task<int> waits(slot& into) {
    co_await suspend_into(into);
    co_return 2;
}
stepped ends_with_own(slot& into) { co_return co_await value_later{1} + co_await waits(into); }
stepped has_own_between(slot& into) {
    co_return sum_of(co_await value_later{1}, co_await waits(into), co_await value_later{4});
}

foreign::lazy<int, foreign::outside> gives(int value) { co_return value; }
stepped awaits_others() { co_return sum_of(co_await gives(1), co_await own(2), co_await gives(4)); }

// Starts the session while the task of ours is awaited.
recorded record_end(std::optional<stepped> coroutine, slot& into) {
    coroutine->step();
    coroutine->step();
    recording session;
    into.resume();
    coroutine->run();
    coroutine.reset();
    check_nobody_runs();
    return session.stop();
}

}  // namespace

TEST_SUITE("awaits in one expression") {
    TEST_CASE("a task keeps its attributes between several awaits, and does not take those of its "
              "resumer") {
        SUBCASE("without a session") {
            stepped coroutine = adds_for("acme");
            run_for_others(coroutine);
            CHECK(coroutine.result() == 3);
        }
        SUBCASE("in a session") {
            recording session;
            {
                stepped coroutine = adds_for("acme");
                run_for_others(coroutine);
                CHECK(coroutine.result() == 3);
            }
            const recorded found = session.stop();
            CHECK_FALSE(found.task("adds_for").losses);
            const analysis::event& after = found.event("after the sum");
            const std::uint32_t value =
                analysis::attribute_value(found.trace, after.attribute, "tenant");
            REQUIRE(value != analysis::none);
            CHECK(found.trace.strings[value] == "acme");
        }
        check_nobody_runs();
    }

    TEST_CASE("a session that begins between several awaits sees the rest, and the task leaves its "
              "thread") {
        for (unsigned before = 0; before <= 4; ++before) {
            CAPTURE(before);
            std::optional<stepped> coroutine(adds());
            for (unsigned step = 0; step < before; ++step) coroutine->step();
            recording session;
            CHECK(coroutine->run() == 15);
            coroutine.reset();
            check_nobody_runs();
            const recorded found = session.stop();
            const analysis::task_info& task = found.task("adds");
            CHECK(task.state == analysis::task_state::finished);
            CHECK_FALSE(task.losses);
            CHECK(task.older_than_session);
            CHECK(task.awaits.size() >= 4 - before);
            check_sum(task, found.trace.duration_ns);
        }
    }

    TEST_CASE("a session that begins between several awaits loses nothing, although another "
              "session ended between them") {
        for (unsigned in_first = 1; in_first <= 4; ++in_first) {
            for (unsigned unseen = 0; in_first + unseen <= 4; ++unseen) {
                CAPTURE(in_first);
                CAPTURE(unseen);
                std::optional<stepped> coroutine(adds());
                {
                    recording first;
                    for (unsigned step = 0; step < in_first; ++step) coroutine->step();
                    CHECK_FALSE(first.stop().task("adds").losses);
                }
                for (unsigned step = 0; step < unseen; ++step) coroutine->step();
                recording second;
                CHECK(coroutine->run() == 15);
                coroutine.reset();
                check_nobody_runs();
                const recorded found = second.stop();
                const analysis::task_info& task = found.task("adds");
                CHECK_FALSE(task.losses);
                check_sum(task, found.trace.duration_ns);
            }
        }
    }

    TEST_CASE("a session that begins while a task of ours is awaited among several awaits loses "
              "nothing") {
        slot place;
        CHECK_FALSE(record_end(ends_with_own(place), place).task("ends_with_own").losses);
        CHECK_FALSE(record_end(has_own_between(place), place).task("has_own_between").losses);
    }

    TEST_CASE("each of several awaits names the awaited task and the waker") {
        recording session;
        CHECK(awaits_others().run() == 7);
        const recorded found = session.stop();
        const auto given = found.tasks("gives");
        REQUIRE(given.size() == 2);
        const std::uint32_t awaited[] = {given[0], found.task_index("own"), given[1]};
        const auto awaits = found.awaits(found.task("awaits_others"));
        REQUIRE(awaits.size() == 3);
        for (const std::size_t at : {0U, 1U, 2U}) {
            CAPTURE(at);
            CHECK(awaits[at].awaited == awaited[at]);
            CHECK(awaits[at].waker == awaited[at]);
            CHECK(awaits[at].wake_ns == awaits[at].resume_ns);
            CHECK(found.trace.tasks[awaited[at]].awaiter == found.task_index("awaits_others"));
        }
    }
}
