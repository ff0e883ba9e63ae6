// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/folded_stacks.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <doctest/doctest.h>

#include "../../support/trace_builder.hpp"

using namespace coroscope;
using analysis::folded_time;

namespace {

using lines = std::vector<std::string>;

lines folded_lines(const test::trace_builder& built, folded_time time) {
    const auto loaded = analysis::load(built.finish());
    REQUIRE(loaded);
    std::string text;
    const auto written = analysis::export_folded_stacks(*loaded, time, [&](std::string_view part) {
        text += part;
        return true;
    });
    REQUIRE(written);
    lines found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        found.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    CHECK(found.size() == *written);
    std::ranges::sort(found);
    return found;
}

// Task 1 (serve) awaits task 2 (load) in scope handle; task 2 waits for a socket in scope read.
test::trace_builder awaited_child() {
    test::trace_builder built;
    const auto serve = built.site("serve", "a.cpp", 1, trace::site_kind::coroutine);
    const auto load = built.site("load", "a.cpp", 2, trace::site_kind::coroutine);
    const auto fetch = built.site("fetch", "a.cpp", 3, trace::site_kind::await);
    const auto socket = built.site("socket", "a.cpp", 4, trace::site_kind::await);
    const auto handle = built.site("handle");
    const auto read = built.site("read");
    const auto flags = trace::scope_in_frame | trace::scope_exact;
    built.on(1)
        .spawn(0, 1, serve, trace::spawn_started)
        .spawn(90, 2, load, 0, 1)
        .transfer(100, 1, 2, fetch)
        .suspend(200, 2, socket);
    built.on(2).wake(500, 2, 0, 2);
    built.on(1)
        .resume(560, 2)
        .long_scope(read, 150, 580, flags, 2, 1)
        .finish_transfer(600, 2, 1)
        .long_scope(handle, 50, 650, flags, 1, 1)
        .finish(700, 1);
    return built;
}

std::int64_t sum_of(const lines& stacks) {
    std::int64_t sum = 0;
    for (const std::string& each : stacks) sum += std::stoll(each.substr(each.rfind(' ')));
    return sum;
}

}  // namespace

TEST_SUITE("folded stacks") {
    TEST_CASE("a stack leads from the root task through its scope and await to the awaited task") {
        CHECK(folded_lines(awaited_child(), folded_time::running) ==
              lines{"serve;[running] 100", "serve;handle;[running] 100",
                    "serve;handle;fetch;load;[running] 70",
                    "serve;handle;fetch;load;read;[running] 70"});
    }

    TEST_CASE("suspended and queued time are apart, and belong to the innermost await alone") {
        CHECK(folded_lines(awaited_child(), folded_time::suspended) ==
              lines{"serve;handle;fetch;load;read;socket 300"});
        CHECK(folded_lines(awaited_child(), folded_time::queued) ==
              lines{"serve;handle;fetch;load;read;socket 60"});
        CHECK(folded_lines(awaited_child(), folded_time::off_cpu) ==
              lines{"serve;handle;fetch;load;read;socket;[queued] 60",
                    "serve;handle;fetch;load;read;socket;[suspended] 300"});
    }

    TEST_CASE(
        "the stacks of wall time add up to the root's wall time if it only waits for children") {
        CHECK(sum_of(folded_lines(awaited_child(), folded_time::wall)) == 700);
    }

    TEST_CASE("the stacks of the critical path add up to the slowest request") {
        CHECK(sum_of(folded_lines(awaited_child(), folded_time::path)) == 700);
    }

    TEST_CASE("states of threads divide the time of a scope") {
        test::trace_builder built = awaited_child();
        built.kernel().enters(1, 0).leaves(1, 20).enters(1, 45).preempted(1, 60).enters(1, 70);
        built.lasts(1000);
        CHECK(folded_lines(built, folded_time::blocked) == lines{"serve 25"});
        CHECK(folded_lines(built, folded_time::preempted) == lines{"serve;handle 10"});
    }

    TEST_CASE("scopes outside tasks stand on their threads, without the tasks that ran in them") {
        test::trace_builder built;
        const auto loop = built.site("loop");
        const auto job = built.site("job", "a.cpp", 1, trace::site_kind::coroutine);
        built.on(1).spawn(200, 1, job, trace::spawn_started).finish(300, 1).scope(loop, 100, 500);
        const lines found = folded_lines(built.lasts(1000), folded_time::running);
        REQUIRE(found.size() == 2);
        CHECK(found[0] == "job;[running] 100");
        CHECK(found[1].ends_with(";loop;[running] 300"));
    }

    TEST_CASE("tasks that await one another in a circle end the stack") {
        test::trace_builder built;
        const auto one = built.site("one", "a.cpp", 1, trace::site_kind::coroutine);
        const auto two = built.site("two", "a.cpp", 2, trace::site_kind::coroutine);
        built.on(1)
            .spawn(0, 1, one, trace::spawn_started)
            .suspend(50, 1)
            .spawn(60, 2, two, trace::spawn_started)
            .awaiting(70, 1, 2)
            .awaiting(80, 2, 1)
            .suspend(100, 2);
        CHECK(sum_of(folded_lines(built.lasts(1000), folded_time::running)) == 90);
    }

    TEST_CASE("the frames of a deep recursion above the limit are one frame, with all their time") {
        test::trace_builder built(1U << 21U);
        const auto walk = built.site("walk", "a.cpp", 1, trace::site_kind::coroutine);
        const auto next = built.site("next", "a.cpp", 2, trace::site_kind::await);
        constexpr std::uint64_t deepest = 20'000;
        auto on = built.on(1);
        on.spawn(0, 1, walk, trace::spawn_started);
        for (std::uint64_t task = 1; task < deepest; ++task) {
            const auto now = static_cast<std::int64_t>(task);
            on.spawn(now * 10, task + 1, walk, 0, task).transfer(now * 10, task, task + 1, next);
        }
        const lines found = folded_lines(built.lasts(300'000), folded_time::running);
        CHECK(sum_of(found) == 300'000);
        CHECK(found.size() <= analysis::most_folded_frames + 1);
        std::size_t deeper = 0;
        std::size_t bytes = 0;
        for (const std::string& each : found) {
            deeper += each.find(";[deeper frames];[running] ") != std::string::npos ? 1 : 0;
            bytes += each.size();
        }
        CHECK(deeper == 1);
        CHECK(bytes < 2'000'000);
    }

    TEST_CASE("each name of a time is one of the listed names") {
        folded_time time{};
        CHECK(analysis::find_folded_time("off-cpu", time));
        CHECK(time == folded_time::off_cpu);
        CHECK_FALSE(analysis::find_folded_time("cpu", time));
        std::string_view names = analysis::folded_times();
        for (std::size_t comma = 0; comma != std::string_view::npos;
             names.remove_prefix(std::min(names.size(), comma + 2))) {
            comma = names.find(',');
            CHECK(analysis::find_folded_time(names.substr(0, comma), time));
        }
    }
}
