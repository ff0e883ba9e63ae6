// SPDX-License-Identifier: Apache-2.0

// Waits for locks: loading, both sides, statistics, damage.

#include <limits>

#include <coroscope/analysis/add_process.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/trace/lock_format.hpp>

#include "../loading.hpp"

using namespace coroscope;
using namespace coroscope::test;
using trace::lock_kind;

namespace {

constexpr auto wait_began_at = trace_builder::base_ticks;

/// A wait of thread 1, in ticks from the session's start.
struct planned_wait {
    std::uint64_t start = 0;
    std::uint64_t duration = 0;
    std::uint64_t released = 0;  ///< 0: unknown
    std::uint64_t address = 0x1000;
    std::uint64_t task = 0;
    std::uint64_t releaser = 0;  ///< mark
    std::uint32_t holder = 0;
    lock_kind kind = lock_kind::mutex;
    std::uint32_t bits = 0;
};

void wait(thread_writer on, const planned_wait& plan,
          std::uint64_t bytes = sizeof(trace::lock_wait_body)) {
    const std::uint64_t released = plan.released == 0 ? 0 : wait_began_at + plan.released;
    on.raw(wait_began_at + plan.start,
           trace::make_tag(trace::record_kind::fact, trace::make_lock_wait_id(plan.kind, plan.bits),
                           bytes),
           {plan.duration, released, plan.address, trace::make_mark(plan.task, 1), plan.releaser,
            std::uint64_t{plan.holder}});
}

std::string csv_of(const analysis::trace& loaded) {
    return analysis::to_csv(analysis::list_locks(loaded, analysis::statistics_of_locks(loaded)));
}

/// A task on thread 1 waits from 400 to 700 for a task on thread 2, which releases at 690.
trace_builder two_tasks() {
    trace_builder made;
    const auto serve = made.site("serve", "serve.cpp", 1);
    const auto audit = made.site("audit", "audit.cpp", 1);
    const auto handle = made.site("handle", "serve.cpp", 2);
    const auto flush = made.site("flush", "audit.cpp", 2);
    auto holder = made.on(2);
    holder.spawn(100, 8, audit).resume(200, 8).scope(flush, 300, 750).finish(800, 8);
    auto waiter = made.on(1);
    waiter.spawn(100, 7, serve).resume(200, 7);
    wait(waiter, {.start = 400,
                  .duration = 300,
                  .released = 690,
                  .task = 7,
                  .releaser = trace::make_mark(8, 2)});
    waiter.scope(handle, 350, 780).finish(900, 7);
    return made;
}

}  // namespace

TEST_SUITE("waits for locks") {
    TEST_CASE("a wait has both sides, their tasks and scopes, and the time to the release") {
        trace_builder made = two_tasks();
        const analysis::trace loaded = load(made);
        REQUIRE(loaded.lock_waits.size() == 1);
        const analysis::lock_wait& wait = loaded.lock_waits[0];
        CHECK(wait.start_ns == 400);
        CHECK(wait.end_ns == 700);
        CHECK(wait.arrival_to_release_ns() == 290);
        CHECK(wait.address == 0x1000);
        CHECK(wait.kind == lock_kind::mutex);
        CHECK_FALSE(wait.gave_up);
        REQUIRE(wait.waiter.task < loaded.tasks.size());
        CHECK(loaded.tasks[wait.waiter.task].id == 7);
        REQUIRE(wait.releaser.task < loaded.tasks.size());
        CHECK(loaded.tasks[wait.releaser.task].id == 8);
        REQUIRE(wait.waiter.scope < loaded.events.size());
        CHECK(loaded.strings[loaded.events[wait.waiter.scope].name] == "handle");
        REQUIRE(wait.releaser.scope < loaded.events.size());
        CHECK(loaded.strings[loaded.events[wait.releaser.scope].name] == "flush");
    }

    TEST_CASE("a task's story names the lock and its holder") {
        trace_builder made = two_tasks();
        const analysis::trace loaded = load(made);
        const auto task = analysis::find_task(loaded, 7);
        REQUIRE(task);
        const std::string text = analysis::task_text(loaded, *task, {});
        CHECK(text.find("mutex 0x1000") != std::string::npos);
        CHECK(text.find("in scope flush (task 8)") != std::string::npos);
        const std::string csv = analysis::to_csv(analysis::list_task_waits(loaded, *task));
        CHECK(csv.find("mutex 0x1000,400,300,") != std::string::npos);
        CHECK(csv.find(",290,locked") != std::string::npos);
    }

    TEST_CASE("the waits for one lock are a row with its sums, its holder and its worst wait") {
        trace_builder made = two_tasks();
        wait(made.on(1), {.start = 1000, .duration = 100, .bits = trace::lock_wait_gave_up});
        wait(made.on(1),
             {.start = 1200, .duration = 50, .address = 0x2000, .kind = lock_kind::read});
        const analysis::trace loaded = load(made);
        const auto rows = analysis::statistics_of_locks(loaded);
        REQUIRE(rows.size() == 2);
        CHECK(rows[0].address == 0x1000);
        CHECK(rows[0].length.count == 2);
        CHECK(rows[0].total_ns == 400);
        CHECK(rows[0].length.max_ns == 300);
        CHECK(rows[0].gave_up == 1);
        CHECK(rows[0].holder.waits == 1);
        CHECK(rows[0].unknown_holders == 1);
        CHECK(rows[0].worst.start_ns == 400);
        CHECK_FALSE(rows[0].samples);
        CHECK(rows[1].kind == lock_kind::read);
        CHECK(csv_of(loaded).find("0x1000,mutex,each wait,handle,serve,2,400,") !=
              std::string::npos);
    }

    TEST_CASE("an arrival before the first known moment leaves the time to the release unknown") {
        trace_builder made;
        wait(made.on(1), {.start = 400,
                          .duration = 300,
                          .released = 600,
                          .kind = lock_kind::condition,
                          .bits = trace::lock_wait_began_before});
        const analysis::trace loaded = load(made);
        REQUIRE(loaded.lock_waits.size() == 1);
        CHECK(loaded.lock_waits[0].released_ns == 600);
        CHECK_FALSE(loaded.lock_waits[0].arrival_to_release_ns());
        CHECK(csv_of(loaded).find("at least 300 ns") != std::string::npos);
    }

    TEST_CASE("a release outside the wait is unknown") {
        trace_builder made;
        for (const std::uint64_t released : {300, 400, 701})
            wait(made.on(1), {.start = 400,
                              .duration = 300,
                              .released = released,
                              .releaser = trace::make_mark(0, 1)});
        for (const analysis::lock_wait& each : load(made).lock_waits) {
            CHECK_FALSE(each.released_ns);
            CHECK(each.releaser.thread == analysis::none);
        }
    }

    TEST_CASE("a holder that recorded nothing is named by the system's id") {
        trace_builder made;
        wait(made.on(1), {.start = 400, .duration = 300, .holder = 4711});
        CHECK(csv_of(load(made)).find("waited for the thread of system id 4711") !=
              std::string::npos);
    }

    TEST_CASE("processes keep their waits when they are joined") {
        trace_builder made = two_tasks();
        const analysis::trace one = load(made);
        analysis::trace all = one;
        analysis::add_process(all, one);
        REQUIRE(all.lock_waits.size() == 2);
        CHECK(all.lock_waits[1].waiter.task != all.lock_waits[0].waiter.task);
        CHECK(all.lock_waits[1].waiter.task < all.tasks.size());
        CHECK(all.lock_waits[1].releaser.scope < all.events.size());
    }

    TEST_CASE("an unknown kind is called unknown") {
        trace_builder made;
        wait(made.on(1), {.start = 100, .duration = 10, .kind = static_cast<lock_kind>(99)});
        CHECK(csv_of(load(made)).find("0x1000,unknown,each wait,,,1,10,") != std::string::npos);
    }

    TEST_CASE("a short record is left out and counted, and a wild duration does not wrap around") {
        trace_builder made;
        auto on = made.on(1);
        on.raw(wait_began_at + 100,
               trace::make_tag(trace::record_kind::fact,
                               trace::make_lock_wait_id(lock_kind::mutex, 0), 16),
               {5, 0});
        wait(on, {.start = 200, .duration = std::numeric_limits<std::uint64_t>::max()});
        const analysis::trace loaded = load(made);
        REQUIRE(loaded.lock_waits.size() == 1);
        CHECK(loaded.lock_waits[0].start_ns == 200);
        CHECK(loaded.lock_waits[0].end_ns >= 200);
        bool counted = false;
        for (const std::string& each : loaded.health.warnings)
            counted |= each.find("malformed waits for locks") != std::string::npos;
        CHECK(counted);
    }
}
