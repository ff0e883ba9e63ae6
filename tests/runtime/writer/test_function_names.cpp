// SPDX-License-Identifier: Apache-2.0

// The names of scopes and tasks, which come from their functions, with the compiler of this build.

#include <coroscope/coroscope.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace named {

struct first {
    first() { COROSCOPE_FUNCTION(); }
    void run() { COROSCOPE_FUNCTION(); }
    void operator()() { COROSCOPE_FUNCTION(); }
    bool operator<(const first&) const {
        COROSCOPE_FUNCTION();
        return false;
    }
    task<int> load(int key) {
        COROSCOPE_FUNCTION();
        co_return key;
    }
};
struct second {
    void run() { COROSCOPE_FUNCTION(); }
};

template <class T>
void instance() {
    COROSCOPE_FUNCTION();
}
template <class T>
struct box {
    void get() { COROSCOPE_FUNCTION(); }
};
template <class T>
task<void> fetch() {
    COROSCOPE_FUNCTION();
    co_return;
}

namespace {
void hidden() { COROSCOPE_FUNCTION(); }
}  // namespace

void run_lambdas() {
    const auto one = [] { COROSCOPE_FUNCTION(); };
    const auto two = [] { COROSCOPE_FUNCTION(); };
    one();
    two();
}

// Overloads need different names only beside each other.
void overloaded(int) { COROSCOPE_FUNCTION(); }
void overloaded(double) { COROSCOPE_FUNCTION(); }

}  // namespace named

namespace {

std::vector<std::string> names_of(const recorded& found) {
    std::vector<std::string> names;
    for (const analysis::event& each : found.trace.events)
        names.push_back(found.trace.strings[each.name]);
    std::sort(names.begin(), names.end());
    return names;
}

TEST_SUITE("function names") {
    TEST_CASE("methods, operators and instances of templates have names of their own") {
        recording session;
        named::first one;
        one.run();
        one();
        static_cast<void>(one < one);  // NOLINT(misc-redundant-expression): it is called
        named::second().run();
        named::instance<int>();
        named::instance<std::string>();
        named::box<int>().get();
        named::box<double>().get();
        named::hidden();
        CHECK(names_of(session.stop()) ==
              std::vector<std::string>{"named::box<double>::get", "named::box<int>::get",
                                       "named::first::first", "named::first::operator()",
                                       "named::first::operator<", "named::first::run",
                                       "named::hidden", "named::instance<int>",
                                       "named::instance<std::string>", "named::second::run"});
    }

    TEST_CASE("lambdas of one function differ by their lines") {
        recording session;
        named::run_lambdas();
        const std::vector<std::string> names = names_of(session.stop());
        REQUIRE(names.size() == 2);
        CHECK(names[0] == "named::run_lambdas::{lambda:55}");
        CHECK(names[1] == "named::run_lambdas::{lambda:56}");
    }

    // clang-format off
    TEST_CASE("lambdas of one line differ by their columns") {
        recording session;
        const auto one = [] { COROSCOPE_FUNCTION(); }; const auto two = [] { COROSCOPE_FUNCTION(); };
        one();
        two();
        const std::vector<std::string> names = names_of(session.stop());
        REQUIRE(names.size() == 2);
        CHECK(names[0] != names[1]);
    }
    // clang-format on

    TEST_CASE("overloads differ by their places") {
        recording session;
        named::overloaded(1);
        named::overloaded(1.0);
        CHECK(names_of(session.stop()) ==
              std::vector<std::string>{"named::overloaded (test_function_names.cpp:62)",
                                       "named::overloaded (test_function_names.cpp:63)"});
    }

    TEST_CASE("a coroutine's scope and its task have one name, with its template arguments") {
        recording session;
        CHECK(sync_wait(named::first().load(3)) == 3);
        sync_wait(named::fetch<int>());
        sync_wait(named::fetch<double>());
        const recorded found = session.stop();
        for (const std::string_view name :
             {"named::first::load", "named::fetch<int>", "named::fetch<double>"}) {
            CAPTURE(name);
            CHECK(found.count(name) == 1);
            CHECK(found.tasks(name).size() == 1);
        }
    }
}

}  // namespace
