// SPDX-License-Identifier: Apache-2.0

// Thread-local observers and the switch follow the context: coroutines, callables, jobs, futures, fibers.

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/future.hpp>
#include <coroscope/observer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "observing.hpp"
#include "support/awaitables.hpp"
#include "support/executors.hpp"
#include "support/foreign.hpp"
#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> hops(slot& into) {
    COROSCOPE("whole");
    {
        COROSCOPE("first half");
    }
    co_await suspend_into(into);
    COROSCOPE("second half");
}

// Not inlined: clang would put its frame on the stack of its caller.
[[gnu::noinline]] foreign::manual<foreign::plain> plain_hops(slot& into) {
    COROSCOPE("plain");
    co_await suspend_into(into);
}

task<int> child() {
    COROSCOPE("child");
    co_return 1;
}
task<int> parent() {
    COROSCOPE("parent");
    co_return co_await child();
}

foreign::manual<foreign::declared> observes_itself(slot& into, journal& seen) {
    const registered here(add_thread_local_observer(noting(seen)));
    {
        COROSCOPE("before");
    }
    co_await suspend_into(into);
    COROSCOPE("after");
}

foreign::manual<foreign::declared> starts_unobserved(slot& into, std::function<void()> start) {
    const observers_guard off(false);
    start();
    co_await suspend_into(into);
}
foreign::manual<foreign::declared>
destroys_later(slot& into, std::optional<foreign::manual<foreign::declared>>& other,
               bool& enabled) {
    co_await suspend_into(into);
    other.reset();
    enabled = observers_enabled();
}

// An observer whose callable is alive as long as `alive` is not expired.
observer watched_by(std::weak_ptr<int>& alive) {
    auto held = std::make_shared<int>(0);
    alive = held;
    return observer([held](const scope_info&) {});
}

bool carries_nothing() { return detail::carried_attributes(detail::this_thread.carried) == 0; }

void run_elsewhere(slot& at) {
    std::thread([&at] { at.resume(); }).join();
}

}  // namespace

TEST_SUITE("carried observers") {
    TEST_CASE("a thread-local observer sees its own thread, and no other thread") {
        journal seen;
        const registered here(add_thread_local_observer(noting(seen)));
        {
            COROSCOPE("here");
        }
        std::thread([] { COROSCOPE("there"); }).join();
        CHECK(seen.take() == lines{"+here", "-here"});
    }

    TEST_CASE("after the removal of its observer a thread is not observed") {
        journal seen;
        registered here(add_thread_local_observer(noting(seen)));
        {
            COROSCOPE("here");
        }
        here.remove();
        {
            COROSCOPE("later");
        }
        CHECK(seen.take() == lines{"+here", "-here"});
    }

    TEST_CASE("a task that is spawned under a thread-local observer is observed wherever it runs") {
        journal seen;
        slot at;
        const auto start = [&] {
            const registered here(add_thread_local_observer(noting(seen)));
            return hops(at);
        };
        {
            const registered here(add_thread_local_observer(noting(seen)));
            auto frame = hops(at);
            frame.resume();
            run_elsewhere(at);
            CHECK(frame.done());
        }
        CHECK(seen.take() == lines{"+whole", "+first half", "-first half", "+second half",
                                   "-second half", "-whole"});
        auto late = start();
        late.resume();
        run_elsewhere(at);
        CHECK(seen.take().empty());  // removed before the task ran
    }

    TEST_CASE("observers that are removed first in, first out leave nothing behind") {
        std::weak_ptr<int> first_alive, second_alive;
        const auto first = add_thread_local_observer(watched_by(first_alive));
        const auto second = add_thread_local_observer(watched_by(second_alive));
        CHECK(remove_observer(first));
        CHECK(remove_observer(second));
        CHECK(carries_nothing());
        CHECK(first_alive.expired());
        CHECK(second_alive.expired());
    }

    TEST_CASE("an observer that is removed before an attribute above it ends is removed together "
              "with that attribute") {
        std::weak_ptr<int> alive;
        {
            const attribute tenant("tenant", "x");
            {
                const auto here = add_thread_local_observer(watched_by(alive));
                const attribute request("request", 7);
                CHECK(remove_observer(here));
                CHECK(current_attribute("request"));
            }
            CHECK(alive.expired());
            CHECK(current_attribute("tenant"));
        }
        CHECK(carries_nothing());
    }

    TEST_CASE("an observer of a frame that is destroyed while it is suspended is released") {
        std::weak_ptr<int> alive;
        slot at;
        {
            auto frame = [](slot& into,
                            std::weak_ptr<int>& known) -> foreign::manual<foreign::declared> {
                const registered here(add_thread_local_observer(watched_by(known)));
                co_await suspend_into(into);
            }(at, alive);
            frame.resume();
            CHECK_FALSE(alive.expired());
        }
        CHECK(alive.expired());
    }

    TEST_CASE("a removal takes effect in every context that carries the observer") {
        journal seen;
        slot at;
        registered here(add_thread_local_observer(noting(seen)));
        auto frame = hops(at);
        frame.resume();
        here.remove();
        run_elsewhere(at);
        CHECK(seen.take() == lines{"+whole", "+first half", "-first half", "-whole"});
    }

    TEST_CASE("an awaited child is seen with its awaiter") {
        journal seen;
        const registered here(add_thread_local_observer(noting(seen)));
        CHECK(sync_wait(parent()) == 1);
        CHECK(seen.take() == lines{"+parent", "+child", "-child", "-parent"});
    }

    TEST_CASE("a task that adds an observer keeps it to itself, across threads") {
        journal seen;
        slot at;
        auto frame = observes_itself(at, seen);
        frame.resume();
        {
            COROSCOPE("outside");
        }
        run_elsewhere(at);
        {
            COROSCOPE("outside");
        }
        CHECK(seen.take() == lines{"+before", "-before", "+after", "-after"});
    }

    TEST_CASE("an observed scope in a plain coroutine's frame may end on another thread") {
        journal seen;
        slot at;
        std::vector<std::uint32_t> ends;
        const registered threads(
            add_global_observer({[](const scope_info&) {},
                                 [&](const scope_info& scope, observer_context*) {
                                     CHECK(scope.may_change_threads());
                                     ends.push_back(scope.thread_id());
                                     ends.push_back(scope_info::current_thread_id());
                                 }}));
        auto frame = plain_hops(at);
        frame.resume();
        run_elsewhere(at);
        REQUIRE(ends.size() == 2);
        CHECK(ends[0] == scope_info::current_thread_id());
        CHECK(ends[1] != ends[0]);
    }

    TEST_CASE(
        "a frame that is destroyed while it is suspended ends its scopes for their observers") {
        journal seen;
        slot at;
        const registered here(add_global_observer(noting(seen)));
        {
            auto frame = plain_hops(at);
            frame.resume();
        }
        CHECK(seen.take() == lines{"+plain", "-plain"});
    }

    TEST_CASE("propagated callables carry thread-local observers") {
        journal seen;
        const registered here(add_thread_local_observer(noting(seen)));
        std::thread(propagate([] { COROSCOPE("propagated"); })).join();
        CHECK(seen.take() == lines{"+propagated", "-propagated"});
    }

    TEST_CASE("an executor's jobs carry thread-local observers") {
        journal seen;
        thread_executor pool;
        executor_adaptor executor(pool);
        {
            const registered here(add_thread_local_observer(noting(seen)));
            executor.execute([] { COROSCOPE("job"); });
            pool.join();
        }
        CHECK(seen.take() == lines{"+job", "-job"});
    }

    TEST_CASE(
        "a range that a future ends runs its callbacks under the observers of its attachment") {
        journal seen;
        promise<int> source;
        const registered here(add_thread_local_observer(noting(seen)));
        range pending("pending");
        pending.on_end([] { COROSCOPE("in callback"); });
        auto profiled = call_end_callbacks_on_future(pending, source.get_future());
        std::thread([&source] { source.set_value(1); }).join();
        CHECK(profiled.get() == 1);
        CHECK(seen.take() == lines{"+pending", "-pending", "+in callback", "-in callback"});
    }

    TEST_CASE("a fiber carries the thread-local observers of the thread that created it") {
        journal seen;
        const registered outer(add_global_observer(noting(seen, "g")));
        registered here(add_thread_local_observer(noting(seen)));
        fiber_context fiber;
        std::thread([&] {
            fiber.switch_in();
            {
                COROSCOPE("on fiber");
            }
            fiber.finish();
            COROSCOPE("on thread");
        }).join();
        CHECK(seen.take() == lines{"g+on fiber", "+on fiber", "g-on fiber", "-on fiber",
                                   "g+on thread", "g-on thread"});
    }

    TEST_CASE("a guard switches observers off for its block, and lets open scopes end") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        CHECK(observers_enabled());
        {
            COROSCOPE("open");
            const disable_observers_guard off;
            CHECK_FALSE(observers_enabled());
            {
                COROSCOPE("unseen");
            }
            {
                const observers_guard on;
                CHECK(observers_enabled());
                COROSCOPE("seen");
            }
            COROSCOPE("unseen, too");
        }
        {
            COROSCOPE("again");
        }
        CHECK(seen.take() == lines{"+open", "+seen", "-seen", "-open", "+again", "-again"});
    }

    TEST_CASE("the switch of observers belongs to the thread, and follows the work that the thread "
              "starts") {
        journal seen;
        slot at;
        const registered here(add_global_observer(noting(seen)));
        {
            const disable_observers_guard off;
            std::thread([] { COROSCOPE("other thread"); }).join();
            std::thread(propagate([] { COROSCOPE("propagated"); })).join();
            auto frame = hops(at);
            frame.resume();
            run_elsewhere(at);
        }
        CHECK(seen.take() == lines{"+other thread", "-other thread"});
    }

    TEST_CASE("attributes and observers are carried beside each other, and traces have the "
              "attributes only") {
        recording session;
        journal seen;
        {
            const attribute tenant("tenant", "a");
            const registered here(add_thread_local_observer(noting(seen)));
            const attribute request("request", 7);
            std::thread(propagate([] {
                COROSCOPE("inside");
                CHECK(current_attribute("tenant").size() == 1);
                CHECK(current_attribute("request").size() == 1);
            })).join();
        }
        CHECK_FALSE(current_attribute("tenant"));
        const recorded found = session.stop();
        CHECK(found.count("inside") == 1);
        CHECK(seen.take() == lines{"+inside", "-inside"});
        std::set<std::string> keys;
        for (const analysis::attribute_info& each : found.trace.attributes)
            keys.insert(found.trace.strings[each.key]);
        CHECK(keys == std::set<std::string>{"request", "tenant"});
        CHECK(found.trace.attributes.size() == 2);
    }

    TEST_CASE("work that was started unobserved stays unobserved when it destroys the frame of the "
              "guard") {
        slot places[2];
        bool enabled = true;
        std::optional<foreign::manual<foreign::declared>> starter;
        std::optional<foreign::manual<foreign::declared>> started;
        starter.emplace(starts_unobserved(places[0], [&] {
            started.emplace(destroys_later(places[1], starter, enabled));
            started->resume();
        }));
        starter->resume();
        places[1].resume();
        CHECK_FALSE(enabled);
        CHECK(observers_enabled());
        CHECK(carries_nothing());
    }
}
