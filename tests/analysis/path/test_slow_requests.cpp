// SPDX-License-Identifier: Apache-2.0

// The comparison of slow requests with median ones.

#include <coroscope/analysis/slow_requests.hpp>

#include <cstdint>
#include <string>

#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "../../support/json.hpp"
#include "loaded_trace.hpp"

using namespace coroscope;
using analysis::path_kind;
using test::loaded;

namespace {

// Requests (tasks "serve" on thread 1) that run 100 ns, wait for a query of 200 ns and run 50 ns.
// After the query of the last one, thread 1 runs a task "audit" for 5000 ns first.
class service {
public:
    explicit service(std::uint64_t requests, std::int64_t audit_ns = 5000) {
        serve_ = built_.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
        audit_ = built_.site("audit", "audit.cpp", 2, trace::site_kind::coroutine);
        query_ = built_.site("query", "store.cpp", 3, trace::site_kind::await);
        for (std::uint64_t task = 1; task <= requests; ++task)
            add(task, task == requests ? audit_ns : 0);
        built_.lasts(now_ + 1000);
    }

    const test::trace_builder& trace() const { return built_; }

private:
    void add(std::uint64_t task, std::int64_t audit_ns) {
        const std::int64_t start = now_;
        built_.on(1)
            .spawn(start, task, serve_, trace::spawn_started)
            .suspend(start + 100, task, query_);
        built_.on(2).wake(start + 300, task, 0, 2);
        std::int64_t resume = start + 300;
        if (audit_ns != 0) {
            built_.on(1).spawn(start + 200, 1000 + task, audit_, trace::spawn_started);
            resume = start + 200 + audit_ns;
            built_.on(1).finish(resume, 1000 + task);
        }
        built_.on(1).resume(resume, task).finish(resume + 50, task);
        now_ = resume + 1000;
    }

    test::trace_builder built_;
    std::uint32_t serve_ = 0;
    std::uint32_t audit_ = 0;
    std::uint32_t query_ = 0;
    std::int64_t now_ = 100;
};

// Requests (tasks "serve" on thread 1) that are queued for 100 ns for "workers" and run there on
// thread 2. The slow ones are queued for 5000 ns for "archive" and run there on thread 3.
test::trace_builder requests_on_pools(std::uint64_t requests, std::uint64_t slow) {
    test::trace_builder built;
    built.executor(1, trace::executor_kind::thread_pool, "workers")
        .executor(2, trace::executor_kind::thread_pool, "archive");
    const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
    std::int64_t now = 100;
    for (std::uint64_t task = 1; task <= requests; ++task) {
        const bool is_slow = task > requests - slow;
        const std::uint32_t pool = is_slow ? 2 : 1;
        const std::int64_t resume = now + 50 + (is_slow ? 5000 : 100);
        built.on(1).spawn(now, task, serve, trace::spawn_started).suspend(now + 40, task);
        built.on(4).wake(now + 50, task, 0, 2, pool);
        built.on(1 + pool).resume(resume, task, 0, 0, pool).finish(resume + 50, task);
        now = resume + 1000;
    }
    return built.lasts(now);
}

// Requests (tasks "serve" on thread 1) that wait 100 ns for the mutex "journal". The last one waits
// 5000 ns: meanwhile the task "audit" on thread 2 holds it.
test::trace_builder requests_at_a_mutex(std::uint64_t requests) {
    test::trace_builder built;
    const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
    const auto audit = built.site("audit", "audit.cpp", 2, trace::site_kind::coroutine);
    const auto journal =
        built.site("journal", "store.cpp", 3, trace::site_kind::resource, "", "mutex");
    constexpr std::uint64_t holder = 1000;
    std::int64_t now = 100;
    for (std::uint64_t task = 1; task <= requests; ++task) {
        const bool is_slow = task == requests;
        const std::int64_t end = now + (is_slow ? 5000 : 100);
        test::resource_values values{.site = journal, .waiter = trace::make_mark(task, 1)};
        if (is_slow) {
            values.holder = values.releaser = trace::make_mark(holder, 2);
            values.released = end;
        }
        if (is_slow) built.on(2).spawn(now - 10, holder, audit, trace::spawn_started);
        built.on(1).spawn(now, task, serve, trace::spawn_started).suspend(now, task);
        built.on(2).wake(end, task, is_slow ? holder : 0, 2);
        built.on(1).resume(end, task).resource_wait(now, end, values).finish(end + 50, task);
        now = end + 1000;
    }
    built.on(2).finish(now - 990, holder);
    return built.lasts(now);
}

}  // namespace

TEST_SUITE("slow requests") {
    TEST_CASE("the first difference is the wait for the thread, because of the work on it") {
        const analysis::trace from = loaded(service(20).trace());
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        CHECK(found->requests == 20);
        CHECK(found->slow_wall_ns == 5250 - 200 + 200);
        CHECK(found->median_wall_ns == 350);
        REQUIRE(!found->differences.empty());
        const analysis::request_difference& first = found->differences.front();
        CHECK(first.kind == path_kind::queued);
        CHECK(first.label == "query");
        CHECK(first.more_ns() == 4900);
        CHECK(first.share == doctest::Approx(1));
        REQUIRE(first.cause);
        CHECK(first.cause->label == "audit");
        CHECK(first.cause->role == analysis::cause_role::ran);
        CHECK(first.cause->time_ns == 4900);
        CHECK(found->unexplained_share == 0);
    }

    TEST_CASE("the differences of all parts add up to the difference of the wall times") {
        const analysis::trace from = loaded(service(40).trace());
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        std::int64_t sum = 0;
        for (const auto& each : found->differences) sum += each.more_ns();
        CHECK(sum == found->slow_wall_ns - found->median_wall_ns);
    }

    TEST_CASE("requests that take the same time do not differ, and no sentence says so") {
        const analysis::trace from = loaded(service(20, 0).trace());
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        CHECK_FALSE(found->differ());
        CHECK(analysis::slow_requests_sentence(from, *found).empty());
        CHECK(analysis::slow_requests_text(from, *found).find("not differ") != std::string::npos);
    }

    TEST_CASE("a thread and an executor of the slow requests are named") {
        const analysis::trace from = loaded(requests_on_pools(60, 5));
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        REQUIRE(found->threads.size() == 1);
        CHECK(from.threads[found->threads.front().index].id == 3);
        CHECK(found->threads.front().slow_share == doctest::Approx(1));
        CHECK(found->threads.front().median_share == 0);
        REQUIRE(found->executors.size() == 1);
        CHECK(analysis::name_of_executor(from, found->executors.front().index) == "archive");
        const std::string text = analysis::slow_requests_text(from, *found);
        CHECK(text.find("queued for archive: 100 % of the slow ones, 0 % of the median ones\n") !=
              std::string::npos);
        const auto json = coroscope_tests::parse_json(analysis::slow_requests_json(from, *found));
        CHECK(json["threads"][0]["thread"].integer() == 3);
        CHECK(json["executors"][0]["name"].text == "archive");
    }

    TEST_CASE("the thread of a few requests may be chance, and is not named") {
        const analysis::trace from = loaded(requests_on_pools(10, 1));
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        CHECK(found->slow.size() == 1);
        CHECK(found->threads.empty());
        CHECK(found->executors.empty());
    }

    TEST_CASE("slow requests that began together are counted, unless median ones began then, too") {
        for (const bool is_usual : {false, true}) {
            test::trace_builder built;
            const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
            std::int64_t start = 1000;
            for (std::uint64_t task = 1; task <= 20; ++task, start += is_usual ? 10 : 1000)
                built.on(static_cast<std::uint32_t>(task))
                    .spawn(start, task, serve, trace::spawn_started)
                    .finish(start + 500, task);
            for (std::uint64_t task = 31; task <= 34; ++task, start += 10)
                built.on(static_cast<std::uint32_t>(task))
                    .spawn(start, task, serve, trace::spawn_started)
                    .finish(start + 5000, task);
            const analysis::trace from = loaded(built.lasts(60'000));
            const auto found =
                analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
            REQUIRE(found);
            REQUIRE(found->slow.size() == 4);
            const std::string text = analysis::slow_requests_text(from, *found);
            CHECK(found->burst.requests == (is_usual ? 0 : 4));
            CHECK((text.find("4 of the 4 slow ones began within 30 ns, from ") == text.npos) ==
                  is_usual);
            if (is_usual) continue;
            CHECK(found->burst.ns == 30);
            CHECK(found->burst.median == 0);
        }
    }

    TEST_CASE("a cause that held a resource has the resource's name") {
        const analysis::trace from = loaded(requests_at_a_mutex(20));
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        const std::string text = analysis::slow_requests_text(from, *found);
        CHECK(text.find("resource journal held by audit ") != std::string::npos);
        const auto document =
            coroscope_tests::parse_json(analysis::slow_requests_json(from, *found));
        CHECK(document["differences"][0]["cause"]["resource"].text == "journal");
    }

    TEST_CASE("a lock whose holder recorded nothing is held by an unknown holder") {
        const analysis::trace from = loaded(service(20).trace());
        auto found = analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        REQUIRE(!found->differences.empty());
        found->differences.front().cause =
            analysis::difference_cause{.label = {}, .role = analysis::cause_role::held};
        CHECK(analysis::slow_requests_text(from, *found).find("a lock held by an unknown holder") !=
              std::string::npos);
    }

    TEST_CASE("without a type, one is compared that has enough requests in full") {
        analysis::trace from = loaded(service(20).trace());
        analysis::request_list list = analysis::requests_of(from);
        for (analysis::request_info& each : list.requests) each.left_out = true;
        CHECK_FALSE(analysis::compare_slow_requests(from, list, ""));
    }

    TEST_CASE("fewer than five whole requests are not compared") {
        const analysis::trace from = loaded(service(4).trace());
        CHECK_FALSE(analysis::compare_slow_requests(from, analysis::requests_of(from), "serve"));
    }

    TEST_CASE("one request is compared with the median ones of its type") {
        const analysis::trace from = loaded(service(20).trace());
        const analysis::request_list list = analysis::requests_of(from);
        const auto place = analysis::find_request(list, 1);
        REQUIRE(place);
        const auto found = analysis::compare_request(from, list, *place);
        REQUIRE(found);
        CHECK(found->slow == std::vector<std::uint64_t>{1});
        CHECK_FALSE(found->differ());
    }

    TEST_CASE("the sentence names the place and the work that was in the way") {
        const analysis::trace from = loaded(service(20, 5'000'000).trace());
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        const std::string sentence = analysis::slow_requests_sentence(from, *found);
        CHECK(sentence.find("5.0 ms longer than the median: 100 % of it queued in query at "
                            "store.cpp:3, because of audit on thread") != std::string::npos);
    }

    TEST_CASE("a wait that nothing explains stays unexplained, and no sentence blames anything") {
        test::trace_builder built;
        const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
        std::int64_t now = 100;
        for (std::uint64_t task = 1; task <= 20; ++task) {
            const std::int64_t wait = task == 20 ? 9000 : 200;
            built.on(1)
                .spawn(now, task, serve, trace::spawn_started)
                .suspend(now + 10, task)
                .resume(now + 10 + wait, task)
                .finish(now + 20 + wait, task);
            now += 100 + wait;
        }
        const analysis::trace from = loaded(built.lasts(now));
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        CHECK(found->differ());
        CHECK(found->unexplained_share == doctest::Approx(1));
        CHECK(analysis::slow_requests_sentence(from, *found).empty());
    }
}
