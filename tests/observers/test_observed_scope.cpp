// SPDX-License-Identifier: Apache-2.0

// The data of a scope that an observer gets: kind, place and name, ids, inputs and outputs.

#include <coroscope/observer.hpp>

#include <coroutine>
#include <exception>
#include <thread>

#include "observing.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

/// A coroutine whose promise alone can await its operands, as in Asio.
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

TEST_SUITE("observed scope") {
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

    TEST_CASE("a labelled await whose operand passes through is a scope of its own kind") {
        journal seen;
        const registered here(add_global_observer(noting(seen).scopes(scope_kind::await)));
        awaits_what_passes_through();
        {
            COROSCOPE("no await");
        }
        CHECK(seen.take() == lines{"+labelled", "-labelled"});
    }

    TEST_CASE(
        "a scope gives its place in the source; a run-time label has no place, and is copied") {
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

    TEST_CASE("ids are given only if an observer needs them, and each only once") {
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

    TEST_CASE("inputs are shown only during the start, and only if an observer needs them") {
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

    TEST_CASE("inputs have shapes, and addresses by which they are recognised") {
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

    TEST_CASE("a scope that runs deferred work is a backward function and has the work's number") {
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

    TEST_CASE("outputs are shown only during the end, and only if an observer needs them") {
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

    TEST_CASE("the outputs of a range with end callbacks are the last ones before its end") {
        lines outputs;
        const auto note_end = [&](const scope_info& scope, observer_context*) {
            outputs.push_back(text_of(scope.outputs()));
        };
        const registered here(
            add_global_observer(observer([](const scope_info&) {}, note_end).needs_outputs()));
        record_function range("range");
        range.outputs("early");
        range.on_end([] {});
        range.outputs(3);
        range.end();
        range.outputs(4);
        CHECK(outputs == lines{"3"});
    }

    TEST_CASE("a decorated call's arguments are its inputs, and its result is its output") {
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

    TEST_CASE("a scope that may end on another thread says so") {
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
}
