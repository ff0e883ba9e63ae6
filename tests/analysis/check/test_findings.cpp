// SPDX-License-Identifier: Apache-2.0

// The result of all rules: the table, the basis of costs, the order, the missing facts.

#include <coroscope/analysis/findings.hpp>

#include <set>
#include <string>

#include <coroscope/analysis/findings_views.hpp>
#include <doctest/doctest.h>

#include "checked_service.hpp"

using namespace coroscope;
using test::checked_service;
using test::ms;
using test::us;

TEST_CASE("each rule has an id of its own, and every text") {
    std::set<std::string_view> ids;
    for (const analysis::finding_rule& each : analysis::finding_rules()) {
        CHECK(ids.insert(each.id).second);
        for (const std::string_view text :
             {each.title, each.meaning, each.threshold, each.advice, each.doubts})
            CHECK_FALSE(text.empty());
        CHECK(analysis::find_rule(each.id)->id == each.id);
        CHECK(analysis::rule_text(each).find(each.advice) != std::string::npos);
    }
    CHECK(ids.size() >= 25);
    CHECK(analysis::find_rule("no such rule") == nullptr);
}

TEST_CASE("equal requests have no finding, and the basis is the marked requests") {
    checked_service service;
    const auto query = service.await_named("query");
    for (int request = 0; request < 20; ++request) {
        service.begin();
        service.wait(query, 5 * ms);
        service.end();
    }
    const analysis::trace from = service.trace();
    const analysis::findings found = analysis::check(from);
    CHECK(found.found.empty());
    CHECK(found.basis == analysis::finding_basis::marked_requests);
    CHECK(found.requests == 20);
    CHECK(found.request_ns == 20 * (5 * ms + us));
    CHECK(analysis::findings_text(from, found).find("no findings\n") != std::string::npos);
}

TEST_CASE("a trace without tasks has no finding, and rules without their facts are named") {
    test::trace_builder built;
    built.on(1).scope(built.site("work"), 100, 200);
    const analysis::findings found = analysis::check(test::loaded(built.lasts(1000)));
    CHECK(found.found.empty());
    CHECK(found.basis == analysis::finding_basis::tasks);
    CHECK(test::could_not_run(found, "blocking-call"));
    CHECK(test::could_not_run(found, "device-idle"));
    CHECK_FALSE(test::could_not_run(found, "polling"));
}

TEST_CASE("a named wait that some requests have and others do not is their way") {
    checked_service service;
    const auto query = service.await_named("query");
    const auto audit = service.await_named("audit");
    for (int request = 0; request < 20; ++request) {
        service.begin();
        service.wait(query, ms);
        if (request % 5 == 3) service.wait(audit, 20 * ms);
        service.end();
    }
    const analysis::trace from = service.trace();
    const analysis::findings found = analysis::check(from);
    REQUIRE(found.found.size() == 1);
    const analysis::finding& only = found.found.front();
    CHECK(only.rule->id == "slow-group");
    CHECK(only.cause.label == "audit");
    CHECK(only.count == 4);
    CHECK(only.cost_ns == 4 * (20 * ms + us));
    CHECK(only.share > 0.7);
    CHECK(only.evidence.size() == 4);
    CHECK(only.explanation.size() == 2);
    const std::string json = analysis::findings_json(from, found);
    CHECK(json.find(R"("label": "audit")") != std::string::npos);
    CHECK(json.find(R"("rule": "slow-group")") != std::string::npos);
}

TEST_CASE(
    "work that begins late in a wait, on the thread that ends it, is not the way of the slow") {
    checked_service service;
    const auto query = service.await_named("query");
    const auto audit = service.await_named("audit");
    const auto log = service.built.site("log", "audit.cpp", 9);
    for (int request = 0; request < 20; ++request) {
        service.begin();
        service.wait(query, ms);
        if (request % 5 == 3) {
            service.wait(audit, 20 * ms);
            service.built.on(2).scope(log, service.now - 5 * ms, service.now + us);
        }
        service.end();
    }
    const analysis::findings found = analysis::check(service.trace());
    const analysis::finding* const slow = test::finding_of(found, "slow-group");
    REQUIRE(slow != nullptr);
    CHECK(slow->cause.label == "audit");
}

TEST_CASE("a continuous tail is no group of its own") {
    checked_service service;
    const auto query = service.await_named("query");
    for (int request = 0; request < 40; ++request) {
        service.begin();
        service.wait(query, (1 + request * request / 40) * ms);
        service.end();
    }
    CHECK(test::finding_of(analysis::check(service.trace()), "slow-group") == nullptr);
}

TEST_CASE("slow requests that all came first are a cold start") {
    checked_service service;
    const auto query = service.await_named("query");
    const auto connect = service.await_named("connect");
    for (int request = 0; request < 30; ++request) {
        service.begin();
        if (request < 3) service.wait(connect, 30 * ms);
        service.wait(query, ms);
        service.end();
    }
    const analysis::findings found = analysis::check(service.trace());
    const analysis::finding* const cold = test::finding_of(found, "cold-start");
    REQUIRE(cold != nullptr);
    CHECK(cold->cause.label == "connect");
    CHECK(test::finding_of(found, "slow-group") == nullptr);
}
