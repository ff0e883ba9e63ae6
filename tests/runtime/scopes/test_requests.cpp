// SPDX-License-Identifier: Apache-2.0

// Requests, values and identities: their records, and the results of the analysis.

#include <coroscope/identity.hpp>
#include <coroscope/request.hpp>
#include <coroscope/value.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>

#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

const analysis::request_info& only_request(const recorded& found) {
    REQUIRE(found.trace.requests.size() == 1);
    return found.trace.requests.front();
}

std::string name_of(const recorded& found, const analysis::request_info& request) {
    return found.trace.strings[request.name];
}

template <class Identity>
std::string text_of(const Identity& identity) {
    char text[identity_chars];
    char* const end = to_chars(text, text + sizeof text, identity);
    REQUIRE(end != nullptr);
    return {text, end};
}

std::uint64_t request_at(const recorded& found, const std::string& identity) {
    const analysis::request_list list = analysis::requests_of(found.trace);
    const auto moment = analysis::read_request_moment(identity);
    REQUIRE(moment);
    const auto place = analysis::find_request(found.trace, list, *moment);
    return place ? list.requests[*place].id : 0;
}

// Nearest rank.
std::int64_t percentile(std::vector<std::int64_t> of, double percent) {
    std::sort(of.begin(), of.end());
    std::size_t rank = 0;
    while (static_cast<double>(rank) * 100 < percent * static_cast<double>(of.size())) ++rank;
    return of[rank - 1];
}

void throwing_request() {
    COROSCOPE_REQUEST("fails");
    throw std::runtime_error("no");
}

// A request in a function that is called while another exception unwinds the stack.
struct works_at_its_end {
    ~works_at_its_end() { COROSCOPE_REQUEST("clean-up"); }
};

foreign::manual<foreign::declared> suspended_request(slot& into) {
    COROSCOPE_REQUEST("suspended", 1h);
    co_await suspend_into(into);
}

foreign::manual<foreign::declared> whole_task(slot& into) {
    COROSCOPE_REQUEST_TASK("whole", 1h);
    co_await suspend_into(into);
}

foreign::manual<foreign::declared> named_task(slot& into, std::string_view name) {
    request_task(std::string(name), 0ns);
    co_await suspend_into(into);
}

task<std::string> child() { co_return text_of(current_request()); }

task<std::string> asks_in_child() {
    COROSCOPE_REQUEST("outer");
    co_return co_await child();
}

enum class colour : std::uint8_t { red = 3 };

}  // namespace

TEST_SUITE("requests") {
    TEST_CASE("the percentiles lie between those of clocks inside and around the requests") {
        constexpr int requests = 300;
        std::vector<std::int64_t> inside, around;
        const auto now_ns = [] {
            return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch())
                .count();
        };
        recording session;
        for (int at = 0; at < requests; ++at) {
            const std::int64_t length_ns = 20'000 + (at * 7919 % requests) * 1'000;
            const std::int64_t before = now_ns();
            std::int64_t begun = 0;
            std::int64_t done = 0;
            {
                COROSCOPE_REQUEST("GET /item");
                begun = now_ns();
                do {
                    done = now_ns();
                } while (done - begun < length_ns);
            }
            around.push_back(now_ns() - before);
            inside.push_back(done - begun);
        }
        const recorded found = session.stop();
        const analysis::request_list list = analysis::requests_of(found.trace);
        CHECK_FALSE(list.guessed);
        const auto types = analysis::statistics_of_requests(found.trace, list);
        REQUIRE(types.size() == 1);
        CHECK(types[0].name == "GET /item");
        CHECK(types[0].count == requests);
        REQUIRE(types[0].percentiles.size() == 5);
        const double percents[] = {50, 90, 99, 99.9, 100};
        for (std::size_t at = 0; at < 5; ++at) {
            const analysis::request_percentile& each = types[0].percentiles[at];
            INFO(std::string(each.name));
            CHECK(each.time.wall_ns >= nearly(percentile(inside, percents[at])));
            CHECK(nearly(each.time.wall_ns) <= percentile(around, percents[at]));
            CHECK(list.requests[each.id - 1].wall_ns() == each.time.wall_ns);
        }
    }

    TEST_CASE(
        "a request is a scope that an exception ends or not, and that keeps its deadline or not") {
        recording session;
        CHECK_THROWS(throwing_request());
        const auto throws = [] {
            const works_at_its_end after;
            throw std::runtime_error("no");
        };
        CHECK_THROWS_AS(throws(), std::runtime_error);
        {
            COROSCOPE_REQUEST("late", 0ms);
        }
        {
            COROSCOPE_REQUEST("in time", 1h);
            COROSCOPE("inside");
        }
        const recorded found = session.stop();
        const std::vector<analysis::request_info>& all = found.trace.requests;
        REQUIRE(all.size() == 4);
        for (std::size_t at = 0; at < all.size(); ++at) CHECK(all[at].id == at + 1);
        CHECK(name_of(found, all[0]) == "fails");
        CHECK(all[0].end == analysis::request_end::failed);
        CHECK_FALSE(all[0].deadline_ns);
        CHECK(name_of(found, all[1]) == "clean-up");
        CHECK(all[1].end == analysis::request_end::completed);
        CHECK(all[2].is_late());
        CHECK(all[3].deadline_ns == 3'600'000'000'000);
        CHECK_FALSE(all[3].is_late());
        CHECK(&found.trace.events[found.event("inside").parent] == &found.event("in time"));
    }

    TEST_CASE("a request in a coroutine lasts across its suspension, and knows its parts") {
        recording session;
        slot suspended;
        auto working = suspended_request(suspended);
        working.resume();
        suspended.resume();
        const recorded found = session.stop();
        const analysis::request_info& request = only_request(found);
        CHECK(request.task == found.task_index("suspended_request"));
        const auto time = analysis::times_of_requests(found.trace, {&request, 1}).front();
        CHECK(time.time.wall_ns() == time.wall_ns);
        CHECK(time.time.running_ns < time.wall_ns);
        const auto steps = analysis::steps_of_request(found.trace, request);
        REQUIRE(steps.size() == 1);
        CHECK(steps[0].kind == analysis::request_step_kind::await);
    }

    TEST_CASE("a request whose frame is destroyed while it is suspended is abandoned") {
        recording session;
        {
            slot suspended;
            auto working = suspended_request(suspended);
            working.resume();
        }
        const recorded found = session.stop();
        CHECK(only_request(found).end == analysis::request_end::abandoned);
        CHECK_FALSE(only_request(found).is_whole());
    }

    TEST_CASE("a request may have a run-time label, and say that it failed") {
        recording session;
        {
            const request handled(std::string("GET /") + "user", 0ms);
            COROSCOPE("inside");
            handled.fail();
        }
        const recorded found = session.stop();
        const analysis::request_info& request = only_request(found);
        CHECK(name_of(found, request) == "GET /user");
        CHECK(request.end == analysis::request_end::failed);
        CHECK(request.is_late());
        CHECK(analysis::steps_of_request(found.trace, request).size() == 1);
    }

    TEST_CASE("an exception that ends the block of a run-time label is a failure of the request") {
        recording session;
        CHECK_THROWS([] {
            const request handled("job");
            throw std::runtime_error("no");
        }());
        CHECK(only_request(session.stop()).end == analysis::request_end::failed);
    }

    TEST_CASE("a range that is a request ends on another thread") {
        recording session;
        request_range job(std::string_view("job.resize!", 10), 1h);
        job.fail();
        std::thread([job] { job.end(); }).join();
        job.fail();
        const recorded found = session.stop();
        const analysis::request_info& request = only_request(found);
        CHECK(name_of(found, request) == "job.resize");
        CHECK(request.end == analysis::request_end::failed);
        CHECK(request.deadline_ns);
        CHECK(found.end_thread(found.event("job.resize")) != request.thread);
    }

    TEST_CASE("a range that does not end is an unfinished request") {
        recording session;
        const request_range job("job");
        const recorded found = session.stop();
        CHECK(only_request(found).end == analysis::request_end::unfinished);
        const auto types =
            analysis::statistics_of_requests(found.trace, analysis::requests_of(found.trace));
        REQUIRE(types.size() == 1);
        CHECK(types[0].count == 0);
        CHECK(types[0].unfinished == 1);
    }

    TEST_CASE("a whole task is a request from its first wake to its end") {
        recording session;
        slot first, second;
        auto whole = whole_task(first);
        auto named = named_task(second, "by name");
        whole.resume();
        named.resume();
        second.resume();
        first.resume();
        const recorded found = session.stop();
        const std::vector<analysis::request_info>& all = found.trace.requests;
        REQUIRE(all.size() == 2);
        CHECK(name_of(found, all[0]) == "whole");
        CHECK(all[0].wall_ns() == found.task("whole_task").time.wall_ns());
        CHECK_FALSE(all[0].is_late());
        CHECK(name_of(found, all[1]) == "by name");
        CHECK(all[1].is_late());
        CHECK(all[1].end == analysis::request_end::completed);
    }

    TEST_CASE("outside tasks a request of the whole task is none") {
        recording session;
        COROSCOPE_REQUEST_TASK("nobody");
        request_task("nobody");
        CHECK(session.stop().trace.requests.empty());
    }

    TEST_CASE("the identity in a log finds the request, from a child task and from a thread") {
        recording session;
        const std::string of_child = sync_wait(asks_in_child());
        std::string of_thread;
        {
            COROSCOPE_REQUEST("plain");
            of_thread = text_of(current_request());
        }
        const std::string of_nothing = text_of(current_request());
        const recorded found = session.stop();
        REQUIRE(found.trace.requests.size() == 2);
        CHECK(name_of(found, found.trace.requests[0]) == "outer");
        CHECK(request_at(found, of_child) == 1);
        CHECK(of_thread.front() == 't');
        CHECK(request_at(found, of_thread) == 2);
        CHECK(request_at(found, of_nothing) == 0);
    }

    TEST_CASE("without a session there are no identities, and nothing is recorded") {
        CHECK_FALSE(current_task());
        CHECK_FALSE(current_request());
        CHECK(text_of(current_task()) == "-");
        CHECK(text_of(current_request()) == "-");
        COROSCOPE_REQUEST("nobody", 1ms);
        const request handled("nobody");
        handled.fail();
        request_range().fail();
        bool evaluated = false;
        recording().stop();
        COROSCOPE_VALUE("nobody", (evaluated = true, 1));
        CHECK_FALSE(evaluated);
    }

    TEST_CASE("an identity that does not fit is not written") {
        char text[4];
        CHECK(to_chars(text, text + sizeof text, task_identity{12345}) == nullptr);
        CHECK(to_chars(text, text + sizeof text, task_identity{1234}) == text + 4);
        CHECK(to_chars(text, text + sizeof text, request_identity{1, 1, 12}) == text + 4);
        CHECK(std::string_view(text, 4) == "1@12");
        CHECK(to_chars(text, text + sizeof text, request_identity{0, 1, 12}) == nullptr);
    }

    TEST_CASE("values keep their number, their moment and the scope around them") {
        recording session;
        {
            COROSCOPE("around");
            COROSCOPE_VALUE("queue.length", 7U);
            COROSCOPE_VALUE("load", 0.25F);
        }
        COROSCOPE_VALUE("queue.length", -3);
        COROSCOPE_VALUE("colour", colour::red);
        COROSCOPE_VALUE("bytes", ~std::uint64_t{0});
        const recorded found = session.stop();
        const std::vector<analysis::value_info>& values = found.trace.values;
        REQUIRE(values.size() == 5);
        CHECK(found.trace.sites[values[0].site].label == "queue.length");
        CHECK(values[0].number == 7);
        CHECK(values[0].scope < found.trace.events.size());
        CHECK(&found.trace.events[values[0].scope] == &found.event("around"));
        CHECK(values[1].number == 0.25);
        CHECK(values[2].number == -3);
        CHECK(values[2].scope == analysis::none);
        CHECK(values[3].number == 3);
        CHECK(values[4].number == 18446744073709551615.0);
        for (std::size_t at = 1; at < values.size(); ++at)
            CHECK(values[at].time_ns >= values[at - 1].time_ns);
    }
}
