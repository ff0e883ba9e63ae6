// SPDX-License-Identifier: Apache-2.0

// The paths of all requests of a type as a tree.

#include <coroscope/analysis/request_paths.hpp>

#include <cstdint>
#include <string>

#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "loaded_trace.hpp"

using namespace coroscope;
using analysis::path_kind;
using test::loaded;

namespace {

// Requests (tasks "serve" on thread 1). Request N runs 100 ns, waits for a task "query", and runs
// 50 ns. The query runs N times 10 ns on thread 2, and wakes the request.
analysis::trace queries(std::uint64_t requests) {
    test::trace_builder built;
    const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
    const auto query = built.site("query", "store.cpp", 2, trace::site_kind::coroutine);
    const auto load = built.site("load", "server.cpp", 3, trace::site_kind::await);
    std::int64_t now = 100;
    for (std::uint64_t number = 1; number <= requests; ++number) {
        const std::int64_t wake = now + 100 + static_cast<std::int64_t>(number) * 10;
        const std::uint64_t other = 1000 + number;
        built.on(1)
            .spawn(now, number, serve, trace::spawn_started)
            .suspend(now + 100, number, load);
        built.on(2)
            .spawn(now + 100, other, query, trace::spawn_started)
            .wake(wake, number, other, 2)
            .finish(wake, other);
        built.on(1).resume(wake, number).finish(wake + 50, number);
        now = wake + 100;
    }
    return loaded(built.lasts(now));
}

analysis::request_paths tree_of(const analysis::trace& from) {
    auto found = analysis::paths_of_requests(from, analysis::requests_of(from), "serve");
    REQUIRE(found);
    return *found;
}

}  // namespace

TEST_SUITE("paths of all requests of a type") {
    TEST_CASE("the work during a wait is below the wait") {
        const analysis::trace from = queries(200);
        const analysis::request_paths tree = tree_of(from);
        REQUIRE(tree.nodes.size() == 3);
        const analysis::request_path_node& wait = tree.nodes[0];
        CHECK(wait.kind == path_kind::suspended);
        CHECK(wait.label == "load");
        CHECK(wait.total_ns == 10 * 200 * 201 / 2);
        CHECK(wait.own_ns == 0);
        CHECK(wait.requests == 200);
        const analysis::request_path_node& work = tree.nodes[1];
        CHECK(work.label == "query");
        CHECK(work.kind == path_kind::running);
        CHECK(work.parent == 0);
        CHECK(work.depth == 1);
        CHECK(work.own_ns == wait.total_ns);
        CHECK(tree.nodes[2].label == "serve");
        CHECK(tree.nodes[2].total_ns == 200 * 150);
    }

    TEST_CASE("the own times of all nodes add up to the wall times") {
        const analysis::request_paths tree = tree_of(queries(57));
        std::int64_t sum_ns = 0;
        for (const auto& node : tree.nodes) sum_ns += node.own_ns;
        CHECK(sum_ns == tree.wall_ns);
        CHECK(tree.wall_ns == 57 * 150 + 10 * 57 * 58 / 2);
    }

    TEST_CASE("a group has the requests around its percentile, and their time at each node") {
        const analysis::request_paths tree = tree_of(queries(200));
        CHECK(tree.groups[0].percentile == 50);
        CHECK(tree.groups[0].requests == std::vector<std::uint64_t>{100, 101});
        CHECK(tree.groups[1].requests == std::vector<std::uint64_t>{190, 191});
        CHECK(tree.groups[2].requests == std::vector<std::uint64_t>{198, 199});
        CHECK(tree.groups[2].wall_ns == 2 * 150 + 1980 + 1990);
        CHECK(tree.nodes[1].group_ns[2] == 1980 + 1990);
        CHECK(tree.nodes[0].group_ns[2] == 1980 + 1990);
    }

    TEST_CASE("one request is in each group") {
        const analysis::request_paths tree = tree_of(queries(1));
        for (const auto& group : tree.groups)
            CHECK(group.requests == std::vector<std::uint64_t>{1});
    }

    TEST_CASE("a type without a whole request has no paths") {
        const analysis::trace from = queries(3);
        CHECK_FALSE(analysis::paths_of_requests(from, analysis::requests_of(from), "nothing"));
    }

    TEST_CASE("text, CSV and JSON have the percentiles side by side") {
        const analysis::trace from = queries(200);
        const analysis::request_paths tree = tree_of(from);
        const std::string text = analysis::request_paths_text(from, tree);
        CHECK(text.find("critical paths of 200 requests serve\nmean: ") == 0);
        CHECK(text.find("p50: 1.2 us, 2 requests; p95: ") != std::string::npos);
        CHECK(text.find("  query") != std::string::npos);
        const std::string csv = analysis::to_csv(analysis::list_request_paths(from, tree, true));
        CAPTURE(csv);
        CHECK(csv.find("mean_ns,share_percent,own_ns,p50_ns,p95_ns,p99_ns,requests,depth,kind,"
                       "label,place\n1005,87,0,1005,1905,1985,200,0,suspended,load") == 0);
        CHECK(analysis::request_paths_json(from, tree).find("\"p99_ns\": 3970") !=
              std::string::npos);
    }
}
