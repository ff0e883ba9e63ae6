// SPDX-License-Identifier: Apache-2.0

// Sampling of requests: a request is recorded in full or left out, with all that is below it.

#include <coroscope/request.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "../support/awaitables.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t interval = 4;

profile_options sampled() { return {.all_threads = true, .request_interval = interval}; }

std::size_t left_out(const recorded& found) {
    return static_cast<std::size_t>(
        std::ranges::count(found.trace.requests, true, &analysis::request_info::left_out));
}

std::size_t in_full(const recorded& found) { return found.trace.requests.size() - left_out(found); }

task<int> leaf() {
    COROSCOPE("leaf");
    co_return 1;
}

task<int> branch(thread_executor& threads) {
    COROSCOPE("branch");
    co_await threads.hop();
    co_return co_await leaf();
}

task<void> handle(thread_executor& threads) {
    COROSCOPE_REQUEST("GET");
    COROSCOPE("inside");
    co_await threads.hop();
    co_await branch(threads);
    COROSCOPE("after");
}

task<void> connection(thread_executor& threads, int requests) {
    COROSCOPE("connection");
    for (int at = 0; at < requests; ++at) {
        co_await handle(threads);
        co_await threads.hop();
        COROSCOPE("between");
    }
}

foreign::manual<foreign::declared> suspended_request(slot& into) {
    COROSCOPE_REQUEST("suspended");
    co_await suspend_into(into);
}

foreign::manual<foreign::declared> whole_task(slot& into) {
    COROSCOPE("early");
    COROSCOPE_REQUEST_TASK("whole");
    COROSCOPE("late");
    co_await suspend_into(into);
}

void nested(int depth) {
    COROSCOPE_REQUEST("outer");
    for (int at = 0; at < depth; ++at) {
        COROSCOPE_REQUEST("inner");
        COROSCOPE("innermost");
    }
    const request named("named");
    const request_range range("range");
}

void fail_on_purpose() {
    COROSCOPE_REQUEST("fails", 0ms);
    throw std::runtime_error("no");
}

}  // namespace

TEST_SUITE("request sampling") {
    TEST_CASE("all requests are recorded, and one of four with its scopes") {
        recording session(sampled());
        for (int at = 0; at < 12; ++at) {
            COROSCOPE_REQUEST("GET");
            COROSCOPE("inside");
        }
        {
            COROSCOPE("outside");
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.requests.size() == 12);
        for (std::size_t at = 0; at < 12; ++at) {
            CHECK(found.trace.requests[at].id == at + 1);
            CHECK(found.trace.requests[at].left_out == (at % interval != 0));
        }
        CHECK(found.count("inside") == 3);
        CHECK(found.count("outside") == 1);
        CHECK_FALSE(found.trace.health.lost_records());
        CHECK(found.trace.health.warnings.empty());
        CHECK(found.trace.health.left_out_requests == 9);
    }

    TEST_CASE("without sampling no request is left out") {
        recording session;
        for (int at = 0; at < 5; ++at) {
            COROSCOPE_REQUEST("GET");
            COROSCOPE("inside");
        }
        const recorded found = session.stop();
        CHECK(left_out(found) == 0);
        CHECK(found.count("inside") == 5);
        CHECK_FALSE(found.trace.sampling.is_on());
    }

    TEST_CASE("each type has a turn of its own, also those with run-time labels") {
        recording session(sampled());
        for (int at = 0; at < 8; ++at) {
            {
                COROSCOPE_REQUEST("first");
            }
            const request second(std::string("sec") + "ond");
            COROSCOPE("inside");
        }
        const recorded found = session.stop();
        CHECK(found.trace.requests.size() == 16);
        CHECK(in_full(found) == 4);
        CHECK(found.count("inside") == 2);
        CHECK(found.count("second") == 8);
    }

    TEST_CASE("the first request of each of 40 types is recorded in full") {
        recording session(sampled());
        for (int type = 0; type < 40; ++type) {
            const request first("type " + std::to_string(type));
            COROSCOPE("inside");
        }
        const recorded found = session.stop();
        CHECK(in_full(found) == 40);
        CHECK(found.count("inside") == 40);
    }

    TEST_CASE("types beyond 64 on a thread share turns, and one of four requests is in full") {
        recording session(sampled());
        for (int round = 0; round < 8; ++round)
            for (int type = 0; type < 80; ++type) {
                const request each("type " + std::to_string(type));
                COROSCOPE("inside");
            }
        const recorded found = session.stop();
        CHECK(found.trace.requests.size() == 640);
        CHECK(in_full(found) == 160);
        CHECK(found.count("inside") == 160);
    }

    TEST_CASE("a request that moves between threads and tasks is recorded whole or not at all") {
        constexpr int connections = 3;
        constexpr int requests = 20;
        constexpr int all = connections * requests;
        recording session(sampled());
        {
            thread_executor threads(3);
            std::vector<std::thread> clients;
            for (int at = 0; at < connections; ++at)
                clients.emplace_back([&threads] { sync_wait(connection(threads, requests)); });
            for (std::thread& each : clients) each.join();
        }
        const recorded found = session.stop();
        CHECK(found.trace.requests.size() == all);
        const std::size_t full = in_full(found);
        CHECK(full > 0);
        CHECK(full < all);
        CHECK(found.count("inside") == full);
        CHECK(found.count("branch") == full);
        CHECK(found.count("leaf") == full);
        CHECK(found.count("after") == full);
        CHECK(found.tasks("branch").size() == full);
        CHECK(found.tasks("leaf").size() == full);
        CHECK(found.count("connection") == connections);
        CHECK(found.count("between") == all);
        CHECK(found.tasks("handle").size() == all);
        for (const std::uint32_t task : found.tasks("handle"))
            CHECK(found.trace.tasks[task].state == analysis::task_state::finished);
        CHECK(found.trace.tasks.size() == static_cast<std::size_t>(connections) + all + 2 * full);
        CHECK_FALSE(found.trace.health.lost_records());
        CHECK(found.trace.health.warnings.empty());
        for (const analysis::request_info& each : found.trace.requests)
            if (each.left_out) CHECK(analysis::steps_of_request(found.trace, each).size() == 1);
    }

    TEST_CASE("the time that is left out does not count as an await with an unknown wake") {
        recording session(sampled());
        for (int at = 0; at < 8; ++at) {
            slot into;
            auto working = suspended_request(into);
            working.resume();
            into.resume();
        }
        const recorded found = session.stop();
        CHECK(in_full(found) == 2);
        const auto sites = analysis::await_statistics(found.trace);
        std::uint64_t awaits = 0;
        std::uint64_t unseen = 0;
        for (const auto& each : sites) {
            awaits += each.times.count;
            unseen += each.times.unknown_wakes;
        }
        CHECK(awaits == 8);
        CHECK(unseen <= 2);
    }

    TEST_CASE("a request inside another one follows it") {
        recording session(sampled());
        for (int at = 0; at < 8; ++at) nested(2);
        const recorded found = session.stop();
        CHECK(found.count("outer") == 8);
        CHECK(found.count("inner") == 16);
        CHECK(found.count("named") == 8);
        CHECK(found.count("range") == 8);
        CHECK(found.count("innermost") == 4);
        CHECK(found.trace.requests.size() == 40);
        CHECK(left_out(found) == 30);
        CHECK_FALSE(found.trace.health.lost_records());
    }

    TEST_CASE("failures and missed deadlines of requests that are left out are counted") {
        recording session(sampled());
        for (int at = 0; at < 8; ++at) CHECK_THROWS(fail_on_purpose());
        const recorded found = session.stop();
        const auto types =
            analysis::statistics_of_requests(found.trace, analysis::requests_of(found.trace));
        REQUIRE(types.size() == 1);
        CHECK(types[0].count == 8);
        CHECK(types[0].failed == 8);
        CHECK(types[0].late == 8);
        CHECK(types[0].in_full == 2);
        CHECK(types[0].percentiles.size() == 5);
        CHECK(types[0].parts.size() == 5);
        for (const analysis::request_percentile& each : types[0].parts)
            CHECK_FALSE(found.trace.requests[each.id - 1].left_out);
    }

    TEST_CASE("a flight recorder records each request that may miss its deadline in full") {
        profile_options options = sampled();
        options.policy = overflow::overwrite_oldest;
        recording session(options);
        for (int at = 0; at < 8; ++at) {
            {
                COROSCOPE_REQUEST("with deadline", 0ms);
                COROSCOPE("urgent");
            }
            COROSCOPE_REQUEST("without");
            COROSCOPE("idle");
        }
        const recorded found = session.stop();
        CHECK(found.count("urgent") == 8);
        CHECK(found.count("idle") == 2);
    }

    TEST_CASE("a whole task that is left out keeps its start and its end") {
        recording session(sampled());
        for (int at = 0; at < 8; ++at) {
            slot into;
            auto working = whole_task(into);
            working.resume();
            into.resume();
        }
        const recorded found = session.stop();
        CHECK(found.trace.requests.size() == 8);
        CHECK(left_out(found) == 6);
        CHECK(found.count("late") == 2);
        CHECK(found.count("early") == 2);
        for (const analysis::request_info& each : found.trace.requests)
            CHECK(each.end == analysis::request_end::completed);
    }

    TEST_CASE("a request that is left out and destroyed while it is suspended is abandoned") {
        recording session(sampled());
        for (int at = 0; at < 4; ++at) {
            slot into;
            auto working = suspended_request(into);
            working.resume();
        }
        {
            COROSCOPE("outside");
        }
        const recorded found = session.stop();
        REQUIRE(found.trace.requests.size() == 4);
        for (const analysis::request_info& each : found.trace.requests)
            CHECK(each.end == analysis::request_end::abandoned);
        CHECK(left_out(found) == 3);
        CHECK(found.count("outside") == 1);
    }

    TEST_CASE("work that a left-out request has started stays left out, and the thread does not") {
        recording session(sampled());
        context inside;
        for (int at = 0; at < 2; ++at) {
            COROSCOPE_REQUEST("GET");
            inside = current_context();
        }
        {
            COROSCOPE("outside");
        }
        std::thread([inside] {
            const context_guard installed(inside);
            COROSCOPE("of the request");
        }).join();
        const recorded found = session.stop();
        CHECK(left_out(found) == 1);
        CHECK(found.count("outside") == 1);
        CHECK(found.count("of the request") == 0);
    }

    TEST_CASE("the next session records work that a session left out") {
        context inside;
        {
            recording session(sampled());
            for (int at = 0; at < 2; ++at) {
                COROSCOPE_REQUEST("GET");
                inside = current_context();
            }
            session.stop();
        }
        recording session;
        {
            const context_guard installed(inside);
            COROSCOPE("later");
        }
        CHECK(session.stop().count("later") == 1);
    }

    TEST_CASE("a session that ends inside a request that is left out leaves the thread as it was") {
        {
            recording session(sampled());
            {
                COROSCOPE_REQUEST("GET");
            }
            COROSCOPE_REQUEST("GET");
            session.stop();
        }
        recording session;
        {
            COROSCOPE("later");
        }
        CHECK(session.stop().count("later") == 1);
        CHECK(current_context().session == 0);
    }

    TEST_CASE("a session of one thread and its work leaves requests out, too") {
        recording session({.request_interval = interval});
        for (int at = 0; at < 8; ++at) {
            COROSCOPE_REQUEST("GET");
            COROSCOPE("inside");
        }
        {
            COROSCOPE("outside");
        }
        const recorded found = session.stop();
        CHECK(found.trace.requests.size() == 8);
        CHECK(found.count("inside") == 2);
        CHECK(found.count("outside") == 1);
        CHECK(current_context().session == 0);
    }

    TEST_CASE("a request that is left out stays so if collection is switched off and on in it") {
        profile session(sampled());
        for (int at = 0; at < 2; ++at) {
            COROSCOPE_REQUEST("GET");
            session.toggle_collection(false);
            session.toggle_collection(true);
            COROSCOPE("inside");
        }
        {
            COROSCOPE("outside");
        }
        const recorded found = load(session.stop());
        CHECK(found.count("inside") == 1);
        CHECK(found.count("outside") == 1);
        CHECK_FALSE(found.trace.health.lost_records());
    }
}
