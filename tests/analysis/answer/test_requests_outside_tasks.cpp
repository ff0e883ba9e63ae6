// SPDX-License-Identifier: Apache-2.0

// Requests outside tasks: the parts of their time, as all views show them.

#include <string>

#include <doctest/doctest.h>

#include "../loading.hpp"
#include <coroscope/analysis/views.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

struct viewed_request {
    analysis::trace loaded;
    analysis::request_list list;
    analysis::request_time time;
    analysis::critical_path path;
};

// A request from 100 to 500 on thread 1, with a scope from 200 to 300 on the same thread.
viewed_request view(std::uint32_t flags) {
    trace_builder built;
    built.lasts(1'000);
    const auto site = built.site("GET", "a.cpp", 3, trace::site_kind::request);
    auto writer = built.on(1);
    writer.scope(built.site("work"), 200, 300);
    if (flags == 0)
        writer.scope(site, 100, 500);
    else
        writer.long_scope(site, 100, 500, flags);
    viewed_request found{load(built), {}, {}, {}};
    found.list = analysis::requests_of(found.loaded);
    REQUIRE(found.list.requests.size() == 1);
    found.time = analysis::times_of_requests(found.loaded, found.list.requests).front();
    found.path = analysis::critical_paths(found.loaded, found.list.requests).front();
    return found;
}

}  // namespace

TEST_SUITE("requests outside tasks") {
    TEST_CASE("a block on a thread's stack runs, for requests and for the path") {
        const viewed_request found = view(0);
        CHECK(found.time.known);
        CHECK(found.time.time.running_ns == 400);
        for (const analysis::path_segment& each : found.path.segments)
            CHECK(each.kind == analysis::path_kind::running);
        CHECK(found.path.segments.size() == 3);
    }

    TEST_CASE(
        "the parts of a block in a foreign coroutine are unknown, for requests and the path") {
        const viewed_request found = view(trace::scope_in_frame);
        CHECK_FALSE(found.time.known);
        CHECK(found.time.wall_ns == 400);
        REQUIRE(found.path.segments.size() == 1);
        CHECK(found.path.segments[0].kind == analysis::path_kind::unknown);
        CHECK(found.path.segments[0].length_ns() == 400);
        CHECK(found.path.segments[0].thread == analysis::none);
        const auto of_scope =
            analysis::critical_path_of_scope(found.loaded, found.list.requests[0].event);
        REQUIRE(of_scope.segments.size() == 1);
        CHECK(of_scope.segments[0].kind == analysis::path_kind::unknown);
    }

    TEST_CASE("no view shows a figure for unknown parts") {
        const viewed_request found = view(trace::scope_in_frame);
        CHECK(analysis::to_csv(analysis::list_slowest_requests(found.loaded, found.list, -1))
                  .find("1,GET,100,400,,,,,completed,") != std::string::npos);
        CHECK(analysis::request_text(found.loaded, found.list, 0)
                  .find("400 ns, of which the parts are unknown\n") != std::string::npos);
        const std::string json = analysis::request_json(found.loaded, found.list, 0);
        for (const char* part : {"running_ns", "suspended_ns", "queued_ns", "waiting_ns"})
            CHECK(json.find('"' + std::string(part) + "\": null") != std::string::npos);
        const auto slowest = analysis::slowest_request(found.loaded);
        REQUIRE(slowest);
        CHECK(analysis::slow_request_sentence(found.loaded, *slowest)
                  .find("400 ns, of which the parts are unknown (GET") != std::string::npos);
        CHECK(analysis::path_text(found.loaded, found.path).find("= 400 ns unknown\n") !=
              std::string::npos);
    }
}
