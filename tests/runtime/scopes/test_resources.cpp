// SPDX-License-Identifier: Apache-2.0

// Waits for resources: the names in their records, and waits without a record. Threads take turns, so that
// the order of all events is known.

#include <coroscope/resource.hpp>

#include <string>
#include <thread>
#include <utility>

#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constinit resource early("constant data");

template <class Action>
void on_other_thread(const Action& action) {
    std::thread(action).join();
}

resource_wait begin_elsewhere(resource& of) {
    resource_wait wait;
    on_other_thread([&] { wait = of.wait_begin(); });
    return wait;
}

// Runs the action in a task of its own.
template <class Action>
void in_task(const Action& action) {
    sync_wait([](const Action& given) -> task<> {
        given();
        co_return;
    }(action));
}

const analysis::resource_wait& only_wait(const recorded& found) {
    REQUIRE(found.trace.resource_waits.size() == 1);
    return found.trace.resource_waits.front();
}

// Waits for an asynchronous mutex of a library: the coroutine is suspended during the wait.
foreign::manual<foreign::declared> waits_for(resource& of, slot& into) {
    COROSCOPE("waits");
    const resource_wait wait = of.wait_begin();
    co_await suspend_into(into);
    of.acquired(wait);
    of.released();
}

foreign::manual<foreign::declared> holds(resource& of, slot& into) {
    COROSCOPE("holds");
    of.acquired();
    co_await suspend_into(into);
    of.released();
}

foreign::manual<foreign::declared> borrows(resource& of, slot& into) {
    of.acquired();
    co_await suspend_into(into);
    of.released();
}

}  // namespace

TEST_SUITE("resource") {
    TEST_CASE("the record of a wait names the resource, the holder and the release") {
        recording session;
        resource cache("cache", resource_kind::pool);
        cache.acquired();
        resource_wait wait;
        on_other_thread([&] {
            COROSCOPE("waiter");
            wait = cache.wait_begin();
        });
        cache.released();
        on_other_thread([&] { cache.acquired(wait); });
        const recorded found = session.stop();
        const analysis::resource_wait& seen = only_wait(found);
        CHECK(found.site_label(seen.site) == "cache");
        CHECK(found.trace.sites[seen.site].category == "pool");
        CHECK(found.trace.sites[seen.site].kind ==
              static_cast<std::uint8_t>(trace::site_kind::resource));
        CHECK(seen.capacity == 1);
        CHECK_FALSE(seen.gave_up);
        CHECK_FALSE(seen.shared);
        CHECK_FALSE(seen.clipped);
        CHECK(seen.start_ns >= found.event("waiter").start_ns);
        REQUIRE(seen.released_ns);
        CHECK(*seen.released_ns >= seen.start_ns);
        CHECK(*seen.released_ns <= seen.end_ns);
        CHECK(seen.releaser_thread == seen.holder_thread);
        CHECK(seen.thread != seen.holder_thread);
        CHECK(seen.thread != found.event("waiter").thread);
        CHECK(seen.task == analysis::none);
    }

    TEST_CASE(
        "a wait belongs to the task that is current at its end, and names the holder's task") {
        slot waiting, holding;
        resource routes("routes");
        recording session;
        auto holder = holds(routes, holding);
        auto waiter = waits_for(routes, waiting);
        on_other_thread([&] { holder.resume(); });
        on_other_thread([&] { waiter.resume(); });
        on_other_thread([&] { holding.resume(); });
        on_other_thread([&] { waiting.resume(); });
        const recorded found = session.stop();
        const analysis::resource_wait& seen = only_wait(found);
        CHECK(seen.task == found.task_index("waits_for"));
        CHECK(seen.thread == found.end_thread(found.event("waits")));
        CHECK(seen.thread != found.event("waits").thread);
        CHECK(seen.holder_task == found.task_index("holds"));
        CHECK(seen.holder_thread == found.event("holds").thread);
        REQUIRE(seen.holder_scope != analysis::none);
        CHECK(&found.trace.events[seen.holder_scope] == &found.event("holds"));
        CHECK(seen.releaser_task == found.task_index("holds"));
        CHECK(seen.releaser_thread == found.end_thread(found.event("holds")));
    }

    TEST_CASE("an acquisition without a wait leaves no record") {
        recording session;
        for (int turn = 0; turn < 10; ++turn) {
            early.acquired();
            early.released();
            early.acquired(resource_wait());
            early.released();
        }
        CHECK(session.stop().trace.resource_waits.empty());
    }

    TEST_CASE("a wait leaves no record if only one of its ends is in a session") {
        resource lock("lock");
        const resource_wait before = lock.wait_begin();
        recording session;
        lock.acquired(before);
        lock.released();
        const resource_wait after = lock.wait_begin();
        CHECK(session.stop().trace.resource_waits.empty());
        lock.acquired(after);
        lock.released();
    }

    TEST_CASE("a wait that began in an earlier session is recorded as clipped") {
        resource lock("lock");
        resource_wait wait;
        {
            recording first;
            wait = lock.wait_begin();
            CHECK(first.stop().trace.resource_waits.empty());
        }
        recording second;
        lock.acquired(wait);
        const recorded found = second.stop();
        CHECK(only_wait(found).clipped);
        CHECK(only_wait(found).start_ns == 0);
        CHECK(found.site_label(only_wait(found).site) == "lock");
    }

    TEST_CASE("each later session describes the resource again") {
        resource lock("described again");
        for (int turn = 0; turn < 2; ++turn) {
            recording session;
            lock.acquired(lock.wait_begin());
            lock.released();
            const recorded found = session.stop();
            CHECK(found.site_label(only_wait(found).site) == "described again");
        }
    }

    TEST_CASE("a holder from a time without a session is not named, nor is an earlier holder") {
        resource lock("lock");
        {
            recording session;
            lock.acquired();
            session.stop();
        }
        lock.released();
        lock.acquired();  // without a session
        recording session;
        const resource_wait wait = begin_elsewhere(lock);
        lock.released();
        on_other_thread([&] { lock.acquired(wait); });
        const recorded found = session.stop();
        CHECK_FALSE(only_wait(found).holder_known);
        CHECK(only_wait(found).released_ns);
    }

    TEST_CASE("a wait that begins after the release has no holder") {
        recording session;
        resource lock("lock");
        lock.acquired();
        lock.released();
        const resource_wait wait = begin_elsewhere(lock);
        lock.acquired(wait);
        const recorded found = session.stop();
        CHECK_FALSE(only_wait(found).holder_known);
        CHECK_FALSE(only_wait(found).released_ns);
    }

    TEST_CASE("the first waiter is the holder in the record of the second") {
        recording session;
        resource lock("lock");
        lock.acquired();
        resource_wait first, second;
        on_other_thread([&] { first = lock.wait_begin(); });
        lock.released();
        std::thread([&] {
            COROSCOPE("first");
            lock.acquired(first);
            second = begin_elsewhere(lock);
            lock.released();
        }).join();
        on_other_thread([&] { lock.acquired(second); });
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        const analysis::resource_wait& later = found.trace.resource_waits[1];
        CHECK(later.holder_thread == found.event("first").thread);
        CHECK(later.releaser_thread == found.event("first").thread);
        CHECK(&found.trace.events[later.holder_scope] == &found.event("first"));
    }

    TEST_CASE(
        "of several holders, a wait names the first task that released the resource during it") {
        for (const auto& [kind, capacity] :
             {std::pair(resource_kind::pool, 8U), std::pair(resource_kind::semaphore, 1U)}) {
            recording session;
            resource slots("slots", kind, capacity);
            slot first, second;
            auto one = holds(slots, first);
            auto other = borrows(slots, second);
            one.resume();
            other.resume();
            const resource_wait wait = begin_elsewhere(slots);
            second.resume();
            first.resume();
            on_other_thread([&] { slots.acquired(wait); });
            const recorded found = session.stop();
            const analysis::resource_wait& seen = only_wait(found);
            CHECK(seen.holder_known);
            CHECK(seen.holder_task == found.task_index("borrows"));
            CHECK(seen.releaser_task == seen.holder_task);
            CHECK(seen.holders_noted);
            REQUIRE(seen.released_ns);
            CHECK(*seen.released_ns > seen.start_ns);
            CHECK(*seen.released_ns < seen.end_ns);
            CHECK(seen.capacity == capacity);
        }
    }

    TEST_CASE("of several holders, none is named that acquired or released the resource at another "
              "time, or for another") {
        const auto with = [](auto before, auto during) {
            recording session;
            resource slots("slots", resource_kind::pool, 4), other("other", resource_kind::pool, 4);
            in_task([&] {
                before(slots, other);
                const resource_wait wait = begin_elsewhere(slots);
                during(slots, other);
                on_other_thread([&] { slots.acquired(wait); });
            });
            const recorded found = session.stop();
            return only_wait(found).holder_known || only_wait(found).released_ns;
        };
        const auto nothing = [](resource&, resource&) {};
        const auto acquire = [](resource& slots, resource&) { slots.acquired(); };
        const auto release = [](resource& slots, resource&) { slots.released(); };
        const auto use = [](resource& slots, resource&) {
            slots.acquired();
            slots.released();
        };
        const auto acquire_elsewhere = [](resource& slots, resource&) {
            in_task([&] { slots.acquired(); });
        };
        const auto acquire_outside = [](resource& slots, resource&) {
            on_other_thread([&] { slots.acquired(); });
        };
        const auto release_outside = [](resource& slots, resource&) {
            on_other_thread([&] { slots.released(); });
        };
        const auto acquire_other = [](resource&, resource& other) { other.acquired(); };
        CHECK(with(acquire, release));
        CHECK_FALSE(with(acquire, nothing));
        CHECK_FALSE(with(use, nothing));
        CHECK_FALSE(with(nothing, use));
        CHECK_FALSE(with(use, release));
        CHECK_FALSE(with(acquire_elsewhere, release));
        CHECK_FALSE(with(acquire_outside, release_outside));
        CHECK_FALSE(with(acquire_other, release));
    }

    TEST_CASE("a task is not the holder for which it waits itself") {
        recording session;
        resource permits("permits", resource_kind::semaphore, 4);
        in_task([&] {
            permits.acquired();
            const resource_wait wait = permits.wait_begin();
            permits.released();
            permits.acquired(wait);
        });
        CHECK_FALSE(only_wait(session.stop()).holder_known);
    }

    TEST_CASE("if a task releases an element of another task, no wait names a holder") {
        recording session;
        resource slots("slots", resource_kind::pool, 4);
        slot first;
        auto one = holds(slots, first);
        one.resume();
        const resource_wait wait = begin_elsewhere(slots);
        first.resume();
        on_other_thread([&] { slots.acquired(wait); });
        in_task([&] { slots.acquired(); });
        in_task([&] { slots.released(); });
        const resource_wait later = begin_elsewhere(slots);
        on_other_thread([&] { slots.acquired(later); });
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        for (const analysis::resource_wait& each : found.trace.resource_waits) {
            CHECK_FALSE(each.holder_known);
            CHECK_FALSE(each.released_ns);
            CHECK(each.holders_noted);
        }
    }

    TEST_CASE("a task is a holder on every thread") {
        slot waiting, holding;
        resource slots("slots", resource_kind::pool, 4);
        recording session;
        auto holder = holds(slots, holding);
        auto waiter = waits_for(slots, waiting);
        on_other_thread([&] { holder.resume(); });
        on_other_thread([&] { waiter.resume(); });
        on_other_thread([&] { holding.resume(); });
        on_other_thread([&] { waiting.resume(); });
        const recorded found = session.stop();
        CHECK(only_wait(found).holder_task == found.task_index("holds"));
        CHECK(only_wait(found).releaser_task == found.task_index("holds"));
        CHECK(only_wait(found).releaser_thread == found.end_thread(found.event("holds")));
    }

    TEST_CASE("an acquisition before the session began names no holder, and later ones do") {
        slot early, late;
        resource slots("slots", resource_kind::pool, 4);
        recording first;
        auto one = holds(slots, early);
        one.resume();
        first.stop();
        recording second;
        const resource_wait wait = begin_elsewhere(slots);
        early.resume();
        on_other_thread([&] { slots.acquired(wait); });
        auto other = holds(slots, late);
        other.resume();
        const resource_wait later = begin_elsewhere(slots);
        late.resume();
        on_other_thread([&] { slots.acquired(later); });
        const recorded found = second.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        CHECK_FALSE(found.trace.resource_waits[0].holder_known);
        CHECK(found.trace.resource_waits[1].holder_known);
    }

    TEST_CASE("a resource remembers sixteen holders, and has room again after each release") {
        recording session;
        resource slots("slots", resource_kind::pool, 100);
        for (int turn = 0; turn < 100; ++turn)
            in_task([&] {
                slots.acquired();
                slots.released();
            });
        for (int turn = 0; turn < 15; ++turn) in_task([&] { slots.acquired(); });
        slot last, beyond;
        auto sixteenth = holds(slots, last), seventeenth = holds(slots, beyond);
        sixteenth.resume();
        seventeenth.resume();
        const resource_wait one = begin_elsewhere(slots);
        beyond.resume();
        on_other_thread([&] { slots.acquired(one); });
        const resource_wait other = begin_elsewhere(slots);
        last.resume();
        on_other_thread([&] { slots.acquired(other); });
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        CHECK_FALSE(found.trace.resource_waits[0].holder_known);
        CHECK(found.trace.resource_waits[1].holder_known);
    }

    TEST_CASE("a semaphore of capacity 0 is a signal without holders") {
        recording session;
        resource done("done", resource_kind::semaphore, 0);
        in_task([&] {
            done.acquired();
            const resource_wait wait = begin_elsewhere(done);
            done.released();
            on_other_thread([&] { done.acquired(wait); });
        });
        CHECK_FALSE(only_wait(session.stop()).holder_known);
    }

    TEST_CASE("the holder and the release of a channel are unknown") {
        recording session;
        resource slots("slots", resource_kind::channel, 4);
        slots.acquired();
        const resource_wait wait = begin_elsewhere(slots);
        slots.released();
        on_other_thread([&] { slots.acquired(wait); });
        const recorded found = session.stop();
        CHECK_FALSE(only_wait(found).holder_known);
        CHECK_FALSE(only_wait(found).released_ns);
        CHECK_FALSE(only_wait(found).holders_noted);
    }

    TEST_CASE("resources of one name have one site and a number each") {
        recording session;
        resource one("shard"), other("shard"), pool("shard", resource_kind::pool);
        const std::string copied("shard");  // names are compared by content
        resource third(copied.c_str());
        for (resource* each : {&one, &other, &one, &pool, &third})
            each->acquired(each->wait_begin());
        const recorded found = session.stop();
        const auto& waits = found.trace.resource_waits;
        REQUIRE(waits.size() == 5);
        CHECK(waits[0].site == waits[1].site);
        CHECK(waits[0].site == waits[4].site);
        CHECK(waits[0].site != waits[3].site);
        CHECK(waits[0].instance != 0);
        CHECK(waits[0].instance == waits[2].instance);
        CHECK(waits[0].instance != waits[1].instance);
        CHECK(waits[1].instance != waits[4].instance);
    }

    TEST_CASE("a resource without a name has the name of its kind") {
        recording session;
        resource none(nullptr), empty("", resource_kind::channel);
        for (resource* each : {&none, &empty}) each->acquired(each->wait_begin());
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        CHECK(found.site_label(found.trace.resource_waits[0].site) == "mutex");
        CHECK(found.site_label(found.trace.resource_waits[1].site) == "channel");
    }

    TEST_CASE("a wait that was given up is recorded, and the holder stays") {
        recording session;
        resource lock("lock");
        lock.acquired();
        for (int turn = 0; turn < 2; ++turn) {
            const resource_wait wait = begin_elsewhere(lock);
            on_other_thread([&] { lock.gave_up(wait); });
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        for (const analysis::resource_wait& each : found.trace.resource_waits) {
            CHECK(each.gave_up);
            CHECK(each.holder_known);
            CHECK_FALSE(each.released_ns);
        }
    }

    TEST_CASE("if a share follows the release, it is unknown which release ended a writer's wait") {
        recording session;
        resource routes("routes");
        routes.acquired();
        const resource_wait reader = begin_elsewhere(routes), writer = begin_elsewhere(routes);
        routes.released();
        on_other_thread([&] { routes.acquired_shared(reader); });
        on_other_thread([&] { routes.acquired(writer); });
        const recorded found = session.stop();
        REQUIRE(found.trace.resource_waits.size() == 2);
        CHECK(found.trace.resource_waits[0].shared);
        CHECK(found.trace.resource_waits[0].released_ns);
        CHECK(found.trace.resource_waits[0].holder_known);
        CHECK_FALSE(found.trace.resource_waits[1].shared);
        CHECK_FALSE(found.trace.resource_waits[1].released_ns);
        CHECK(found.trace.resource_waits[1].holder_known);
    }

    TEST_CASE("waits for which the trace has no room are counted") {
        profile session({.all_threads = true, .limit_bytes = 64U << 10, .chunk_bytes = 4096});
        resource lock("lock");
        constexpr std::uint64_t turns = 20'000;
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            lock.acquired(lock.wait_begin());
            lock.released();
        }
        const auto loaded = analysis::load(session.stop());
        REQUIRE(loaded);
        CHECK(loaded->health.dropped_newest > 0);
        CHECK(loaded->resource_waits.size() + loaded->health.dropped_newest == turns);
    }

    TEST_CASE("a session of one thread records the waits that end on it") {
        resource lock("lock");
        recording session(profile_options{});
        on_other_thread([&] { lock.acquired(lock.wait_begin()); });
        CHECK(session.stop().trace.resource_waits.empty());
        lock.released();
    }
}
