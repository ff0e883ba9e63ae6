// SPDX-License-Identifier: Apache-2.0

// Requests that are left out, in Asio's coroutines: with all that they await and spawn.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <coroscope/async_stack.hpp>
#include <coroscope/request.hpp>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

constexpr std::size_t sampled_requests = 12;
constexpr std::uint32_t sampled_interval = 4;

net::awaitable<void> sampled_query() {
    COROSCOPE("query");
    co_await net::post(net::use_awaitable);  // names the task
}

net::awaitable<void> sampled_request(net::thread_pool& queries) {
    COROSCOPE_REQUEST("sampled");
    COROSCOPE("inside");
    net::steady_timer timer(co_await net::this_coro::executor, 1ms);
    co_await timer.async_wait(net::use_awaitable);
    co_await net::co_spawn(queries, sampled_query(), net::use_awaitable);
    net::post(queries, [] { COROSCOPE("posted"); });
}

net::awaitable<void> sampled_connection(net::thread_pool& queries) {
    for (std::size_t at = 0; at < sampled_requests; ++at) {
        co_await sampled_request(queries);
        COROSCOPE("between");
    }
}

net::awaitable<void> sampled_task() {
    COROSCOPE_REQUEST_TASK("whole");
    COROSCOPE("inside");
    net::steady_timer timer(co_await net::this_coro::executor, 1ms);
    co_await timer.async_wait(net::use_awaitable);
}

template <class Program>
analysis::trace record_sampled(const Program& program) {
    coroscope::profile session({.all_threads = true, .request_interval = sampled_interval});
    program();
    auto loaded = analysis::load(session.stop());
    REQUIRE(loaded);
    return std::move(*loaded);
}

std::size_t requests_in_full(const analysis::trace& found) {
    return static_cast<std::size_t>(
        std::ranges::count(found.requests, false, &analysis::request_info::left_out));
}

std::size_t count_sampled(const analysis::trace& found, std::string_view name) {
    return static_cast<std::size_t>(
        std::ranges::count_if(found.events, [&](const analysis::event& each) {
            return found.strings[each.name] == name;
        }));
}

void serve_connection() {
    net::io_context loop;
    net::thread_pool queries(2);
    net::co_spawn(loop, sampled_connection(queries), net::detached);
    loop.run();
    queries.join();
}

void check_connection(const analysis::trace& found) {
    const std::size_t full = requests_in_full(found);
    CHECK(found.requests.size() == sampled_requests);
    CHECK(full == sampled_requests / sampled_interval);
    for (const char* name : {"inside", "query", "posted"}) {
        INFO(name);
        CHECK(count_sampled(found, name) == full);
    }
    CHECK(count_sampled(found, "between") == sampled_requests);
    CHECK(count_tasks(found, "sampled_query") == static_cast<std::ptrdiff_t>(full));
    CHECK(count_tasks(found, "sampled_connection") == 1);
    // The tasks of each request in full are the query and the posted handler.
    CHECK(found.tasks.size() == 1 + 2 * full);
    CHECK_FALSE(found.health.lost_records());
    CHECK(found.health.warnings.empty());
}

}  // namespace

TEST_SUITE("sampling") {
    TEST_CASE(
        "a request in a coroutine is recorded with what it awaits and spawns, or not at all") {
        check_connection(record_sampled(serve_connection));
    }

    TEST_CASE("a request in a coroutine is left out whole, also if live tasks are tracked") {
        REQUIRE(coroscope::track_live_tasks(true));
        const analysis::trace found = record_sampled(serve_connection);
        coroscope::track_live_tasks(false);
        check_connection(found);
    }

    TEST_CASE("a spawned task that is a request keeps its start and its end") {
        const analysis::trace found = record_sampled([] {
            net::io_context loop;
            for (std::size_t at = 0; at < sampled_requests; ++at)
                net::co_spawn(loop, sampled_task(), net::detached);
            loop.run();
        });
        CHECK(found.requests.size() == sampled_requests);
        CHECK(requests_in_full(found) == sampled_requests / sampled_interval);
        CHECK(count_sampled(found, "inside") == sampled_requests / sampled_interval);
        for (const analysis::request_info& each : found.requests)
            CHECK(each.end == analysis::request_end::completed);
        CHECK_FALSE(found.health.lost_records());
    }
}
