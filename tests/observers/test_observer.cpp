// SPDX-License-Identifier: Apache-2.0

// The rules of observers, one by one, on one thread.

#include <coroscope/future.hpp>
#include <coroscope/observer.hpp>

#include <coroutine>
#include <exception>
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

/// A coroutine whose promise alone knows what to make of its operands, as Asio's does.
struct passing_coroutine {
    struct operand {};
    struct promise_type {
        passing_coroutine get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        std::suspend_never await_transform(operand) const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};
passing_coroutine awaits_what_passes_through() {
    co_await COROSCOPE_AWAIT("labelled", passing_coroutine::operand{});
}

void function_named_scope() { COROSCOPE_FUNCTION(); }

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

    TEST_CASE("what start returns is handed to its end, and destroyed after it") {
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

    TEST_CASE("each scope gets its own context back, however they nest") {
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

    TEST_CASE(
        "an observer that is removed while a scope is open still gets its end, and nothing after") {
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
        "the callables of a removed observer live until the last scope that it sees has ended") {
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

    TEST_CASE("removing itself and others inside a callback takes effect with the next scope") {
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

    TEST_CASE("a scope inside a callback is not seen by the same observer, but by others") {
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

    TEST_CASE("a callback's exception is dropped and counted, and the others run") {
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

    TEST_CASE("an end is not called where the start threw") {
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

    TEST_CASE("an observer sees only the kinds of scopes that it asks for") {
        journal functions;
        journal users;
        journal ranges;
        journal all;
        const registered a(add_global_observer(noting(functions).scopes(scope_kind::function)));
        const registered b(add_global_observer(noting(users).scopes(scope_kind::user_scope)));
        const registered c(add_global_observer(
            noting(ranges).scopes(scope_kind::range, scope_kind::backward_function)));
        const registered d(add_global_observer(noting(all).scopes()));
        function_named_scope();
        {
            const record_function user("user");
        }
        range("range").end();
        CHECK(functions.take() == lines{"+function_named_scope", "-function_named_scope"});
        CHECK(users.take() == lines{"+user", "-user"});
        CHECK(ranges.take() == lines{"+range", "-range"});
        CHECK(all.take().size() == 6);
    }

    TEST_CASE("a labelled await of an operand that passes through is a scope of its own kind") {
        journal seen;
        const registered here(add_global_observer(noting(seen).scopes(scope_kind::await)));
        awaits_what_passes_through();
        {
            COROSCOPE("no await");
        }
        CHECK(seen.take() == lines{"+labelled", "-labelled"});
    }

    TEST_CASE("a scope says where it stands; a label of run time stands nowhere, and is copied") {
        const site* found = nullptr;
        std::string label;
        const registered here(add_global_observer(
            {[&](const scope_info& scope) { found = scope.where(); },
             [&](const scope_info& scope, observer_context*) { label = scope.name().data(); }}));
        {
            COROSCOPE_CAT("net", 1, "constant");
        }
        REQUIRE(found != nullptr);
        CHECK(std::string(found->category) == "net");
        std::string text(200, 'x');
        {
            const record_function range(text);
            text.assign(200, 'y');
        }
        CHECK(found == nullptr);
        CHECK(label == std::string(200, 'x'));
    }

    TEST_CASE("ids are given only where an observer needs them, and each once") {
        std::vector<std::uint64_t> ids;
        const auto note = [&](const scope_info& scope) { ids.push_back(scope.id()); };
        {
            const registered here(add_global_observer(observer(note)));
            COROSCOPE("without");
        }
        {
            const registered here(add_global_observer(observer(note).needs_ids()));
            COROSCOPE("with");
            COROSCOPE("with, too");
        }
        REQUIRE(ids.size() == 3);
        CHECK(ids[0] == 0);
        CHECK(ids[1] > 0);
        CHECK(ids[2] == ids[1] + 1);
    }

    TEST_CASE("threads are counted from 1, and a number is not used again") {
        std::vector<std::uint32_t> threads;
        const registered here(add_global_observer(
            observer([&](const scope_info& scope) { threads.push_back(scope.thread_id()); })));
        {
            COROSCOPE("here");
        }
        for (int each = 0; each < 2; ++each) std::thread([] { COROSCOPE("there"); }).join();
        REQUIRE(threads.size() == 3);
        CHECK(threads[0] == scope_info::current_thread_id());
        CHECK(threads[0] >= 1);
        CHECK(threads[1] > threads[0]);
        CHECK(threads[2] > threads[1]);
    }

    TEST_CASE("inputs are shown during start only, and only where an observer needs them") {
        lines inputs;
        const auto note = [&](const scope_info& scope) {
            inputs.push_back(text_of(scope.inputs()));
        };
        const auto note_end = [&](const scope_info& scope, observer_context*) {
            inputs.push_back("end:" + text_of(scope.inputs()));
        };
        {
            const registered here(add_global_observer({note, note_end}));
            COROSCOPE_ARGS("args", 1, "two");
        }
        {
            const registered here(add_global_observer(observer(note, note_end).needs_inputs()));
            COROSCOPE_ARGS("args", 1, "two", 2.5);
            const record_function range("range", std::string("seven"), true);
        }
        CHECK(inputs == lines{"", "end:", "1, two, 2.5", "seven, true", "end:", "end:"});
    }

    TEST_CASE("inputs have shapes, and addresses by which they are known again") {
        lines shapes;
        std::vector<const void*> addresses;
        const registered here(add_global_observer(
            observer([&](const scope_info& scope) {
                shapes.push_back(text_of(scope.input_shapes()));
                addresses.assign(scope.input_addresses().begin(), scope.input_addresses().end());
            }).needs_inputs()));
        const std::vector<int> row(3);
        const double grid[2][4] = {};
        {
            COROSCOPE_ARGS("shaped", row, 5, grid, &row, std::string("text"));
        }
        CHECK(shapes == lines{"[[3], [], [2, 4], [], []]"});
        CHECK(addresses == std::vector<const void*>{row.data(), nullptr, grid, &row, nullptr});
        {
            COROSCOPE("none");
        }
        CHECK(shapes.back().empty());
        CHECK(addresses.empty());
    }

    TEST_CASE(
        "where deferred work runs, a scope is a backward function and has the work's number") {
        std::vector<std::pair<scope_kind, std::int64_t>> seen;
        const registered here(add_global_observer(observer([&](const scope_info& scope) {
            seen.emplace_back(scope.kind(), scope.sequence_nr());
        })));
        const deferred work = defer();
        {
            const record_function forward("pow", deferred{work.number, 0});
        }
        {
            const record_function backward("PowBackward0", work);
        }
        {
            COROSCOPE("neither");
        }
        REQUIRE(seen.size() == 3);
        CHECK(seen[0] == std::pair(scope_kind::user_scope, work.number));
        CHECK(seen[1] == std::pair(scope_kind::backward_function, work.number));
        CHECK(seen[2] == std::pair(scope_kind::function, std::int64_t{-1}));
    }

    TEST_CASE("outputs are shown during end only, and only where an observer needs them") {
        lines outputs;
        const auto note = [&](const scope_info& scope) {
            outputs.push_back("start:" + text_of(scope.outputs()));
        };
        const auto note_end = [&](const scope_info& scope, observer_context*) {
            outputs.push_back(text_of(scope.outputs()));
        };
        const auto give = [] {
            const record_function range("range");
            range.outputs(3, "four");
        };
        {
            const registered here(add_global_observer({note, note_end}));
            give();
        }
        {
            const registered here(add_global_observer(observer(note, note_end).needs_outputs()));
            give();
        }
        CHECK(outputs == lines{"start:", "", "start:", "3, four"});
    }

    TEST_CASE("a decorated call's arguments are its inputs and its result its output") {
        lines shown;
        const registered here(add_global_observer(
            observer([&](const scope_info& scope) { shown.push_back(text_of(scope.inputs())); },
                     [&](const scope_info& scope, observer_context*) {
                         shown.push_back(text_of(scope.outputs()));
                     })
                .needs_inputs()
                .needs_outputs()));
        int place = 1;
        auto add = record_function::of("add", [](int left, int right) { return left + right; });
        auto same = record_function::of("same", [](int& of) -> int& { return of; });
        CHECK(add(2, 3) == 5);
        CHECK(&same(place) == &place);
        CHECK(shown == lines{"2, 3", "5", "1", "1"});
    }

    TEST_CASE("inputs beyond their room are cut, and counted") {
        const std::uint64_t before = current_observer_faults().cut_texts;
        std::size_t size = 0;
        const registered here(add_global_observer(observer([&](const scope_info& scope) {
                                                      size = scope.inputs().size();
                                                  }).needs_inputs()));
        {
            COROSCOPE_ARGS("long", std::string(5000, 'x'));
        }
        CHECK(size == 1024);
        CHECK(current_observer_faults().cut_texts == before + 1);
    }

    TEST_CASE("a range ends for its observers when it ends, wherever that is") {
        journal seen;
        const registered here(add_global_observer(noting(seen)));
        const range upload("upload");
        upload.on_end([&] { seen.note("callback"); });
        CHECK(seen.take() == lines{"+upload"});
        std::thread([upload] { upload.end(); }).join();
        CHECK(seen.take() == lines{"-upload", "callback"});
    }

    TEST_CASE("a range that is attached to a future ends for its observers when that completes") {
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

    TEST_CASE("what may end on another thread says so") {
        lines may;
        const registered here(add_global_observer(observer([&](const scope_info& scope) {
            if (scope.may_change_threads()) may.push_back(text_of(scope.name()));
        })));
        {
            COROSCOPE("on the stack");
        }
        {
            const record_function block("block");
        }
        range("range").end();
        record_function by_hand;
        by_hand.begin("by hand");
        by_hand.end();
        CHECK(may == lines{"range", "by hand"});
    }

    TEST_CASE("ten observers see a scope, each once") {
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
