// SPDX-License-Identifier: Apache-2.0

// Calls that blocked a thread: loading, places, statistics, damage.

#include <limits>

#include <coroscope/analysis/views.hpp>
#include <coroscope/trace/blocking_format.hpp>

#include "../loading.hpp"

using namespace coroscope;
using namespace coroscope::test;
using trace::blocked_function;
using trace::descriptor_kind;

namespace {

constexpr auto opened_at = trace_builder::base_ticks;

std::uint64_t tag_of(blocked_function function, descriptor_kind descriptor,
                     std::uint64_t bytes = sizeof(trace::blocking_call_body)) {
    return trace::make_tag(trace::record_kind::fact, trace::make_blocking_id(function, descriptor),
                           bytes);
}

void call(thread_writer on, blocked_function function, descriptor_kind descriptor,
          std::uint64_t start, std::uint64_t duration, std::uint64_t task = 0) {
    on.raw(opened_at + start, tag_of(function, descriptor), {duration, trace::make_mark(task, 1)});
}

}  // namespace

TEST_SUITE("blocking calls") {
    TEST_CASE("a call has its times, its thread, its task and its innermost scope") {
        trace_builder made;
        const auto coroutine = made.site("serve", "serve.cpp", 1);
        const auto outer = made.site("handle", "serve.cpp", 2);
        const auto inner = made.site("flush", "serve.cpp", 3);
        auto on = made.on(1);
        on.spawn(100, 7, coroutine).resume(200, 7);
        call(on, blocked_function::fsync, descriptor_kind::file, 400, 300, 7);
        on.scope(inner, 350, 750).scope(outer, 300, 800).finish(900, 7);
        call(on, blocked_function::nanosleep, descriptor_kind::none, 1000, 50);
        const analysis::trace loaded = load(made);
        REQUIRE(loaded.blocking_calls.size() == 2);
        const analysis::blocking_call& flush = loaded.blocking_calls[0];
        CHECK(flush.start_ns == 400);
        CHECK(flush.end_ns == 700);
        CHECK(flush.function == blocked_function::fsync);
        CHECK(flush.descriptor == descriptor_kind::file);
        CHECK(flush.thread == 0);
        REQUIRE(flush.task < loaded.tasks.size());
        CHECK(loaded.tasks[flush.task].id == 7);
        REQUIRE(flush.scope < loaded.events.size());
        CHECK(loaded.strings[loaded.events[flush.scope].name] == "flush");
        const analysis::blocking_call& nap = loaded.blocking_calls[1];
        CHECK(nap.task == analysis::none);
        CHECK(nap.scope == analysis::none);
    }

    TEST_CASE("equal calls at one place are one row, and the longest total comes first") {
        trace_builder made;
        auto on = made.on(1);
        call(on, blocked_function::read, descriptor_kind::pipe, 100, 10);
        call(on, blocked_function::read, descriptor_kind::pipe, 200, 30);
        call(on, blocked_function::read, descriptor_kind::socket, 300, 100);
        const auto rows = analysis::statistics_of_blocking_calls(load(made));
        REQUIRE(rows.size() == 2);
        CHECK(rows[0].descriptor == descriptor_kind::socket);
        CHECK(rows[1].length.count == 2);
        CHECK(rows[1].total_ns == 40);
        CHECK(rows[1].length.max_ns == 30);
    }

    TEST_CASE("a call that began before the session is cut to it") {
        trace_builder made;
        made.on(1).raw(opened_at - 500, tag_of(blocked_function::read, descriptor_kind::pipe),
                       {700, trace::make_mark(0, 1)});
        const analysis::trace loaded = load(made);
        REQUIRE(loaded.blocking_calls.size() == 1);
        CHECK(loaded.blocking_calls[0].start_ns == 0);
        CHECK(loaded.blocking_calls[0].end_ns == 200);
    }

    TEST_CASE("an unknown function and an unknown kind of descriptor are called unknown") {
        trace_builder made;
        call(made.on(1), static_cast<blocked_function>(250), static_cast<descriptor_kind>(99), 100,
             10);
        const analysis::trace loaded = load(made);
        const std::string csv = analysis::to_csv(
            analysis::list_blocking_calls(loaded, analysis::statistics_of_blocking_calls(loaded)));
        CHECK(csv.find("unknown,unknown,,,1,10,") != std::string::npos);
    }

    TEST_CASE("a short record is left out and counted, and a wild duration does not wrap around") {
        trace_builder made;
        auto on = made.on(1);
        on.raw(opened_at + 100, tag_of(blocked_function::read, descriptor_kind::pipe, 8), {5, 0});
        call(on, blocked_function::read, descriptor_kind::pipe, 200,
             std::numeric_limits<std::uint64_t>::max(), 123456789);
        const analysis::trace loaded = load(made);
        REQUIRE(loaded.blocking_calls.size() == 1);
        CHECK(loaded.blocking_calls[0].start_ns == 200);
        CHECK(loaded.blocking_calls[0].end_ns >= 200);
        bool counted = false;
        for (const std::string& each : loaded.health.warnings)
            counted |= each.find("malformed records of blocking calls") != std::string::npos;
        CHECK(counted);
    }
}
