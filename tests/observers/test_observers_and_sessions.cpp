// SPDX-License-Identifier: Apache-2.0

// A session records observed scopes like other scopes.

#include <coroscope/future.hpp>
#include <coroscope/observer.hpp>
#include <coroscope/stream_range.hpp>

#include <thread>

#include "observing.hpp"
#include "support/awaitables.hpp"
#include "support/foreign.hpp"
#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> waits(slot& into) {
    COROSCOPE("in frame");
    co_await suspend_into(into);
}

foreign::manual<foreign::plain> labels_await(slot& into) {
    co_await COROSCOPE_AWAIT("labelled", suspend_into(into));
    try {
        co_await COROSCOPE_AWAIT("throws", throwing_pause());
    } catch (const std::runtime_error&) {
        // The exception ends here.
    }
}

}  // namespace

TEST_SUITE("observers and sessions") {
    TEST_CASE("observed scopes have their place in the tree, their arguments and their labels") {
        journal seen;
        const registered here(add_global_observer(noting(seen).needs_inputs()));
        recording session({.all_threads = true, .record_arguments = true});
        {
            COROSCOPE("outer");
            COROSCOPE_ARGS("inner", 1, "two");
            const record_function user(std::string("user"));
        }
        const recorded found = session.stop();
        CHECK(&found.trace.events[found.event("inner").parent] == &found.event("outer"));
        CHECK(&found.trace.events[found.event("user").parent] == &found.event("inner"));
        CHECK(found.arguments(found.event("inner")) == "1, two");
        CHECK((found.event("outer").flags & (analysis::event_in_frame | analysis::event_async)) ==
              0);
        CHECK(seen.take().size() == 6);
    }

    TEST_CASE("an observed scope in a task's frame includes the task's suspension") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        recording session;
        slot at;
        auto frame = waits(at);
        frame.resume();
        std::thread([&at] { at.resume(); }).join();
        const recorded found = session.stop();
        const analysis::event& event = found.event("in frame");
        CHECK((event.flags & analysis::event_in_frame) != 0);
        CHECK(found.split(event).waiting_ns + found.split(event).suspended_ns > 0);
        CHECK(found.end_thread(event) != event.thread);
        CHECK(seen.take() == lines{"+in frame", "-in frame"});
    }

    TEST_CASE("the scopes of callbacks are recorded before the start and after the end of the "
              "observed scope") {
        const registered here(
            add_global_observer({[](const scope_info&) { COROSCOPE("start"); },
                                 [](const scope_info&, observer_context*) { COROSCOPE("end"); }}));
        recording session;
        {
            COROSCOPE("x");
        }
        const recorded found = session.stop();
        CHECK(found.event("start").end_ns <= found.event("x").start_ns);
        CHECK(found.event("end").start_ns >= found.event("x").end_ns);
    }

    TEST_CASE("a scope that began before the session is observed, and not recorded") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        {
            COROSCOPE("before");
            recording session;
            {
                COROSCOPE("within");
            }
            const recorded found = session.stop();
            CHECK(found.count("within") == 1);
            CHECK(found.count("before") == 0);
        }
        CHECK(seen.take() == lines{"+before", "+within", "-within", "-before"});
    }

    TEST_CASE("observed ranges and their items are recorded on any thread") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        recording session;
        {
            const range upload("upload");
            std::thread([upload] { upload.end(); }).join();
            record_function by_hand;
            by_hand.begin("by hand");
            std::thread([&by_hand] { by_hand.end(); }).join();
        }
        const recorded found = session.stop();
        CHECK((found.event("upload").flags & analysis::event_async) != 0);
        CHECK(found.end_thread(found.event("by hand")) != found.event("by hand").thread);
        CHECK(seen.take() == lines{"+upload", "-upload", "+by hand", "-by hand"});
    }

    TEST_CASE("labelled awaits outside of tasks are recorded under observers") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        recording session;
        slot at;
        auto frame = labels_await(at);
        frame.resume();
        at.resume();
        const recorded found = session.stop();
        CHECK(found.count("labelled") == 1);
        CHECK(found.count("throws") == 0);
        CHECK(seen.take().empty());
    }

    TEST_CASE("tasks and their awaits are recorded in the same way beside an observer") {
        journal seen;
        const auto count = [] {
            recording session;
            slot at;
            auto frame = waits(at);
            frame.resume();
            at.resume();
            const recorded found = session.stop();
            return std::pair(found.tasks("waits").size(), found.trace.awaits.size());
        };
        const auto alone = count();
        const registered here(add_global_observer(noting(seen)));
        CHECK(count() == alone);
    }
}
