// SPDX-License-Identifier: Apache-2.0

// The reported failures: which ones, how often, and their messages.

#include <coroscope/anomaly.hpp>

#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "anomaly_support.hpp"
#include "live_support.hpp"
#include "support/awaitables.hpp"
#include "support/executors.hpp"
#include "support/foreign.hpp"

using namespace coroscope;
using namespace coroscope::test;

template <>
struct coroscope::result_validator<double> {
    static bool is_anomalous(const double& value) noexcept { return std::isnan(value); }
};
template <>
struct coroscope::result_validator<foreign::lazy_promise<int>> {
    static bool is_anomalous(int value) noexcept { return value < 0; }
};

namespace {

using manual_task = foreign::manual<foreign::declared>;
using numbers = foreign::generator<int, foreign::outside>;
template <class T>
using foreign_lazy = foreign::lazy<T, foreign::outside>;

struct refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

task<int> fails(const char* why = "no such row") {
    throw refused(why);
    co_return 0;
}

task<int> asks() { co_return co_await COROSCOPE_AWAIT("the row", fails()); }
task<int> serves() { co_return co_await asks(); }

task<int> asks_both() {
    int failed = 0;
    for (int round = 0; round < 2; ++round) {
        try {
            co_await fails();
        } catch (const refused&) {
            ++failed;
        }
    }
    co_return failed;
}

// Both children fail, and then the first exception is rethrown, as in a when_all.
task<int> gathers() {
    std::exception_ptr first;
    for (const char* why : {"the one", "the other"}) {
        try {
            co_await fails(why);
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    std::rethrow_exception(first);
    co_return 0;
}

task<int> turns_it_into_another() {
    bool failed = false;
    try {
        co_await fails();
    } catch (const refused&) {
        failed = true;
    }
    // The exception above is destroyed, and this one may have the same address.
    if (failed) throw refused("gave up");
    co_return 0;
}

task<int> hops_and_asks(thread_executor& pool) {
    std::exception_ptr kept;
    try {
        co_await fails();
    } catch (...) {
        kept = std::current_exception();
    }
    co_await pool.hop();
    std::rethrow_exception(kept);
    co_return 0;
}

numbers counts_to_two() {
    co_yield 1;
    co_yield 2;
    throw refused("no third number");
}

task<int> adds_up() {
    auto all = counts_to_two();
    int sum = 0;
    while (all.next()) sum += all.value();
    co_return sum;
}

template <class Awaitable>
bool throws_refused(Awaitable awaitable) {
    try {
        sync_wait(std::move(awaitable));
    } catch (const refused&) {
        return true;
    }
    return false;
}

task<double> divides(double by) { co_return 0.0 / by; }
task<double> doubles(double by) { co_return 2 * co_await divides(by); }
foreign_lazy<int> subtracts(int amount) { co_return 1 - amount; }
task<int> pays(int amount) { co_return co_await subtracts(amount); }

}  // namespace

TEST_SUITE("anomaly detection") {
    TEST_CASE("a task that returns a value is no anomaly") {
        anomalies found;
        const auto fine = []() -> task<int> { co_return 3; };
        CHECK(sync_wait(fine()) == 3);
        CHECK(found.list.empty());
    }

    TEST_CASE("an exception across three tasks is reported once, at its origin") {
        anomalies found;
        CHECK(throws_refused(serves()));
        REQUIRE(found.list.size() == 1);
        const anomaly_copy& only = found.list[0];
        CHECK(only.kind == anomaly_kind::exception);
        CHECK(only.type.ends_with("refused"));
        CHECK(only.what == "no such row");
        CHECK(functions_of(only.stack) == std::vector<std::string>{"fails", "asks", "serves"});
        CHECK(std::string_view(only.stack[1].await.label) == "the row");
        CHECK(only.exception != nullptr);
    }

    TEST_CASE("the message of a failure names the failed task, its spawn and one line for each "
              "ancestor") {
        anomalies found;
        CHECK(throws_refused(serves()));
        REQUIRE(found.list.size() == 1);
        const std::string& text = found.list[0].message;
        const async_stack& stack = found.list[0].stack;
        INFO(text);
        CHECK(
            text.starts_with("coroscope: task " + std::to_string(stack[0].task) + " failed with "));
        CHECK(text.find("refused: no such row\n") != std::string::npos);
        CHECK(text.find("spawned: ") != std::string::npos);
        CHECK(text.find("test_anomaly.cpp:" + std::to_string(stack[0].spawn.line)) !=
              std::string::npos);
        CHECK(count(text, "\n  induced by task ") == 2);
        CHECK(text.find("awaits: the row (") != std::string::npos);
        CHECK(text.ends_with("\n"));
    }

    TEST_CASE("an exception without a text is reported without one") {
        struct says_nothing : std::exception {
            const char* what() const noexcept override { return nullptr; }
        };
        const auto mute = []() -> task<> {
            throw says_nothing();
            co_return;
        };
        anomalies found;
        bool caught = false;
        try {  // doctest would read the null text
            sync_wait(mute());
        } catch (const says_nothing&) {
            caught = true;
        }
        CHECK(caught);
        REQUIRE(found.list.size() == 1);
        CHECK(found.list[0].what.empty());
        CHECK(found.list[0].type.ends_with("says_nothing"));
    }

    TEST_CASE("failures one after the other are reported separately") {
        anomalies found;
        CHECK(sync_wait(asks_both()) == 2);
        CHECK(found.list.size() == 2);
    }

    TEST_CASE("two siblings that fail make two reports, and their awaiter's failure makes none") {
        anomalies found;
        CHECK(throws_refused(gathers()));
        REQUIRE(found.list.size() == 2);
        CHECK(found.list[0].what == "the one");
        CHECK(found.list[1].what == "the other");
    }

    TEST_CASE("an exception that is rethrown on another thread is reported once") {
        anomalies found;
        thread_executor pool;
        CHECK(throws_refused(hops_and_asks(pool)));
        CHECK(found.list.size() == 1);
    }

    TEST_CASE("a handled exception and a new one in its place are reported separately") {
        anomalies found;
        CHECK(throws_refused(turns_it_into_another()));
        REQUIRE(found.list.size() == 2);
        CHECK(found.list[1].what == "gave up");
        CHECK(function_of(found.list[1].stack[0]) == "turns_it_into_another");
    }

    TEST_CASE("an exception that passes through a generator into its caller is reported once") {
        anomalies found;
        CHECK(throws_refused(adds_up()));
        REQUIRE(found.list.size() == 1);
        CHECK(function_of(found.list[0].stack[0]) == "counts_to_two");
    }

    TEST_CASE("exceptions of any type are reported, and destroyed copies do no harm") {
        anomalies found;
        const auto throws_a_number = []() -> task<int> {
            throw 7;
            co_return 0;
        };
        CHECK_THROWS_AS(sync_wait(throws_a_number()), int);
        {
            auto left_alone =
                foreign::manual<foreign::declared>([]() -> foreign::manual<foreign::declared> {
                    throw refused("nobody asks");
                    co_return;
                }());
            left_alone.resume();
        }
        found.drop_exceptions();
        CHECK(throws_refused(serves()));
        REQUIRE(found.list.size() == 3);
        CHECK(found.list[0].type == "int");
        CHECK(found.list[0].what.empty());
        CHECK(found.list[1].what == "nobody asks");
    }

    TEST_CASE("a result that its type's validator refuses is reported once, at its origin") {
        anomalies found;
        CHECK(std::isnan(sync_wait(doubles(0.0))));
        REQUIRE(found.list.size() == 1);
        CHECK(found.list[0].kind == anomaly_kind::result);
        CHECK(functions_of(found.list[0].stack) == std::vector<std::string>{"divides", "doubles"});
        CHECK(found.list[0].message.find("gave an anomalous result\n") != std::string::npos);
        CHECK(sync_wait(doubles(1.0)) == 0);
        CHECK(found.list.size() == 1);
    }

    TEST_CASE("a promise type may have a validator for the results of its coroutines") {
        anomalies found;
        CHECK(sync_wait(pays(1)) == 0);
        CHECK(found.list.empty());
        CHECK(sync_wait(pays(3)) == -2);
        REQUIRE(found.list.size() == 1);
        CHECK(function_of(found.list[0].stack[0]) == "subtracts");
    }

    TEST_CASE("a handler may throw, fail tasks of its own and end its detection") {
        struct unruly {
            static void handle(const anomaly&, void* data) {
                auto& calls = *static_cast<int*>(data);
                if (++calls == 1) CHECK(throws_refused(fails("in the handler")));
                throw 1;
            }
        };
        int calls = 0;
        {
            const anomaly_detection detection(&unruly::handle, &calls);
            CHECK(throws_refused(fails()));
        }
        CHECK(calls == 2);
    }

    TEST_CASE("a handler of an exception can ask for its report") {
        anomalies found;
        anomaly_text told;
        try {
            sync_wait(serves());
        } catch (const refused&) {
            CHECK(throws_refused(fails("another one")));
            told = describe_failed_task();
        }
        REQUIRE(found.list.size() == 2);
        CHECK(std::string(told.text) == found.list[0].message);
        CHECK(std::string(describe_failed_task().text) == found.list[1].message);
        try {
            throw refused("in no task");
        } catch (const refused&) {
            CHECK(count(describe_failed_task().text, "has not left a task") == 1);
        }
    }

    TEST_CASE("without detection the answer says how to turn it on") {
        CHECK(throws_refused(serves()));
        const anomaly_text answer = describe_failed_task();
        CHECK(count(answer.text, "COROSCOPE_ANOMALY=1") == 1);
        CHECK(answer.size == std::string(answer.text).size());
        try {
            sync_wait(serves());
        } catch (const refused&) {
            CHECK(count(describe_failed_task().text, "anomaly_detection") == 1);
        }
    }

    TEST_CASE("failures from before detection was turned on again are forgotten") {
        {
            anomalies found;
            CHECK(throws_refused(serves()));
        }
        anomalies found;
        CHECK(count(describe_failed_task().text, "no task has failed") == 1);
        CHECK(throws_refused(serves()));
        CHECK(found.list.size() == 1);
    }

    TEST_CASE(
        "detection tracks live tasks during its lifetime, and leaves an explicit tracking on") {
        CHECK_FALSE(live_tasks().tracked);
        {
            anomalies found;
            CHECK(live_tasks().tracked);
            track_live_tasks(true);
        }
        CHECK(live_tasks().tracked);
        track_live_tasks(false);
        CHECK_FALSE(live_tasks().tracked);
    }
}
