// SPDX-License-Identifier: Apache-2.0

// The rules for observers, one by one, on one thread.

#include <coroscope/future.hpp>
#include <coroscope/observer.hpp>

#include <stdexcept>
#include <thread>

#include "observing.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct number final : observer_context {
    explicit number(int of) : value(of) {}
    int value;
};

}  // namespace

TEST_SUITE("observer") {
    TEST_CASE("a global observer sees each scope begin and end, without a session") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        {
            COROSCOPE("outer");
            COROSCOPE_CAT("db", 2, "inner");
        }
        CHECK(seen.take() == lines{"+outer", "+inner", "-inner", "-outer"});
    }

    TEST_CASE("a scope after the removal is not seen") {
        journal seen;
        registered here(add_global_observer(noting(seen)));
        here.remove();
        {
            COROSCOPE("later");
        }
        CHECK(seen.take().empty());
    }

    TEST_CASE("the context that a start returns is passed to its end, and destroyed afterwards") {
        journal seen;
        struct told final : observer_context {
            explicit told(journal& to) : into(to) {}
            ~told() override { into.note("gone"); }
            journal& into;
        };
        const registered here(
            add_global_observer({[&](const scope_info&) { return std::make_unique<told>(seen); },
                                 [&](const scope_info&, observer_context* from_start) {
                                     CHECK(dynamic_cast<told*>(from_start) != nullptr);
                                     seen.note("end");
                                 }}));
        {
            COROSCOPE("context");
        }
        CHECK(seen.take() == lines{"end", "gone"});
    }

    TEST_CASE("each scope gets its own context back, in any nesting") {
        int next = 0;
        lines ends;
        const registered here(add_global_observer(
            {[&](const scope_info&) { return std::make_unique<number>(next++); },
             [&](const scope_info& scope, observer_context* from_start) {
                 ends.push_back(text_of(scope.name()) +
                                std::to_string(static_cast<number*>(from_start)->value));
             }}));
        {
            COROSCOPE("a");
            {
                COROSCOPE("b");
            }
            {
                COROSCOPE("c");
            }
        }
        CHECK(ends == lines{"b1", "c2", "a0"});
    }

    TEST_CASE("global observers come first, then thread-local ones, in the order of registration, "
              "also at the end") {
        journal seen;
        const registered local(add_thread_local_observer(noting(seen, "L")));
        const registered first(add_global_observer(noting(seen, "1")));
        const registered second(add_global_observer(noting(seen, "2")));
        const registered other_local(add_thread_local_observer(noting(seen, "M")));
        {
            COROSCOPE("x");
        }
        CHECK(seen.take() == lines{"1+x", "2+x", "L+x", "M+x", "1-x", "2-x", "L-x", "M-x"});
    }

    TEST_CASE("an observer that is removed while a scope is open still gets its end, and no later "
              "calls") {
        journal seen;
        registered here(add_global_observer(noting(seen)));
        {
            COROSCOPE("open");
            here.remove();
            COROSCOPE("after");
        }
        CHECK(seen.take() == lines{"+open", "-open"});
    }

    TEST_CASE(
        "the callables of a removed observer live as long as a scope that it observes is open") {
        auto alive = std::make_shared<int>(0);
        const std::weak_ptr<int> watched = alive;
        registered here(
            add_global_observer(observer([alive = std::move(alive)](const scope_info&) {})));
        {
            COROSCOPE("open");
            here.remove();
            CHECK_FALSE(watched.expired());
        }
        {
            COROSCOPE("next: the thread finds out that the list has changed");
        }
        const registered other(add_global_observer(observer([](const scope_info&) {})));
        {
            COROSCOPE("and at the latest now");
        }
        CHECK(watched.expired());
    }

    TEST_CASE("an observer that is added while a scope is open does not get its end") {
        journal seen;
        observer_handle added = 0;
        {
            COROSCOPE("open");
            added = add_global_observer(noting(seen));
            COROSCOPE("new");
        }
        CHECK(seen.take() == lines{"+new", "-new"});
        CHECK(remove_observer(added));
    }

    TEST_CASE(
        "observers that are removed inside a callback still see that scope, and no later one") {
        journal seen;
        observer_handle itself = 0;
        observer_handle other = 0;
        itself = add_global_observer(
            {[&](const scope_info&) {
                 remove_observer(itself);
                 remove_observer(other);
                 seen.note("itself+");
             },
             [&](const scope_info&, observer_context*) { seen.note("itself-"); }});
        other = add_global_observer(noting(seen));
        {
            COROSCOPE("x");
        }
        {
            COROSCOPE("y");
        }
        CHECK(seen.take() == lines{"itself+", "+x", "itself-", "-x"});
    }

    TEST_CASE("handles count from 1, and removing an unknown one is refused and counted") {
        const std::uint64_t before = current_observer_faults().unknown_handles;
        observer_handle first = add_global_observer(observer([](const scope_info&) {}));
        observer_handle second = add_global_observer(observer([](const scope_info&) {}));
        CHECK(first >= 1);
        CHECK(second == first + 1);
        CHECK(remove_observer(second));
        CHECK_FALSE(remove_observer(second));
        CHECK(remove_observer(first));
        CHECK_FALSE(remove_observer(0));
        CHECK(current_observer_faults().unknown_handles == before + 2);
    }

    TEST_CASE("an observer is registered once") {
        observer twice([](const scope_info&) {});
        const registered here(add_global_observer(twice));
        CHECK(add_global_observer(twice) == 0);
        CHECK(std::string(twice.message()) == "It is registered already.");
    }

    TEST_CASE("a sampling probability outside [0, 1] is invalid, and the observer refused") {
        for (const double probability : {-0.1, 1.1, __builtin_nan("")}) {
            observer wrong([](const scope_info&) {});
            wrong.sampling_probability(probability);
            CHECK(std::string(wrong.message()) == "Invalid sampling probability");
            CHECK(add_global_observer(wrong) == 0);
        }
    }

    TEST_CASE("a scope inside a callback is seen by other observers, but not by the same one") {
        journal seen;
        const registered other(add_global_observer(noting(seen)));
        const registered here(add_global_observer(
            {[](const scope_info&) { COROSCOPE("in start"); },
             [](const scope_info&, observer_context*) { COROSCOPE("in end"); }}));
        {
            COROSCOPE("x");
        }
        CHECK(seen.take() == lines{"+x", "+in start", "-in start", "-x", "+in end", "-in end"});
    }

    TEST_CASE("a callback's exception is dropped and counted, and the other callbacks run") {
        journal seen;
        const std::uint64_t before = current_observer_faults().callbacks_that_threw;
        const registered throws(add_global_observer(
            {[](const scope_info&) {},
             [](const scope_info&, observer_context*) { throw std::runtime_error("in end"); }}));
        const registered throws_int(
            add_global_observer(observer([](const scope_info&) { throw 1; })));
        const registered other(add_global_observer(noting(seen)));
        {
            COROSCOPE("x");
        }
        CHECK(seen.take() == lines{"+x", "-x"});
        CHECK(current_observer_faults().callbacks_that_threw == before + 2);
    }

    TEST_CASE("an end is not called if the start threw") {
        bool ended = false;
        const registered here(
            add_global_observer({[](const scope_info&) { throw std::runtime_error("in start"); },
                                 [&](const scope_info&, observer_context*) { ended = true; }}));
        {
            COROSCOPE("x");
        }
        CHECK_FALSE(ended);
    }

    TEST_CASE("an exception that leaves the block ends its scope") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        try {
            COROSCOPE("left");
            throw 1;
        } catch (int) {
            seen.note("caught");
        }
        CHECK(seen.take() == lines{"+left", "-left", "caught"});
    }

    TEST_CASE("a range ends for its observers at its end, on whichever thread that is") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        const range upload("upload");
        upload.on_end([&] { seen.note("callback"); });
        CHECK(seen.take() == lines{"+upload"});
        std::thread([upload] { upload.end(); }).join();
        CHECK(seen.take() == lines{"-upload", "callback"});
    }

    TEST_CASE(
        "a range that is attached to a future ends for its observers when the future completes") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        promise<int> source;
        record_function borrowed("borrowed");
        auto profiled = call_end_callbacks_on_future(borrowed, source.get_future());
        CHECK(seen.take() == lines{"+borrowed"});
        source.set_value(1);
        CHECK(profiled.get() == 1);
        CHECK(seen.take() == lines{"-borrowed"});
    }

    TEST_CASE("ten observers see a scope once each") {
        journal seen;
        std::vector<std::unique_ptr<registered>> all;
        for (int each = 0; each < 10; ++each)
            all.push_back(std::make_unique<registered>(add_global_observer(noting(seen))));
        {
            COROSCOPE("x");
        }
        CHECK(seen.take().size() == 20);
    }

    TEST_CASE("a thousand scopes may be open at once, and end in their order") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        std::vector<range> open;
        for (int each = 0; each < 1000; ++each) open.emplace_back(std::to_string(each));
        for (const range& each : open) each.end();
        const lines found = seen.take();
        REQUIRE(found.size() == 2000);
        CHECK(found[999] == "+999");
        CHECK(found[1000] == "-0");
    }
}
