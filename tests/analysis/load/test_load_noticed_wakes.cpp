// SPDX-License-Identifier: Apache-2.0
// Wakes by the reactor of a thread that was busy before.

#include <string>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/views.hpp>

#include "thread_states.hpp"

using namespace coroscope::test;
using coroscope::analysis::wake_reason;

namespace {

// Task 1 awaits an object from 100 to 500; thread 1 reports it at 400, and ran task 2 until
// `busy_ns`.
trace_builder served(trace::object_kind kind, std::int64_t busy_ns) {
    trace_builder built = built_trace();
    built.object(7, kind);
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.site("read"), 0, 7)
        .spawn(110, 2, 0, trace::spawn_started)
        .finish(busy_ns, 2)
        .wake(400, 1, 0, 1)
        .resume(500, 1)
        .finish(600, 1);
    return built;
}

wake_reason reason_in(const trace_builder& built) {
    const analysis::trace loaded = load(built);
    REQUIRE(loaded.awaits.size() == 1);
    CHECK(loaded.awaits[0].wake_ns == 400);
    return loaded.awaits[0].reason;
}

}  // namespace

TEST_CASE("a socket that a thread reports after another task may have been ready earlier") {
    const trace_builder built = served(trace::object_kind::socket, 300);
    CHECK(reason_in(built) == wake_reason::noticed);
    const analysis::trace loaded = load(built);
    const auto statistics = analysis::await_statistics(loaded);
    REQUIRE(statistics.size() == 1);
    CHECK(statistics[0].times.noticed_wakes == 1);
    const std::string text = analysis::to_text(analysis::list_await_sites(loaded, statistics), {});
    CHECK(text.find("0.100us+") != std::string::npos);
}

TEST_CASE("a thread that waited in the kernel after its last task reports a socket at once") {
    trace_builder built = served(trace::object_kind::socket, 300);
    built.kernel().times(1, 0, 100, 0).leaves(1, 320).enters(1, 380).times(1, 990, 900, 0);
    CHECK(reason_in(built) == wake_reason::unknown);
}

TEST_CASE("a thread that ran no task within the wait reports a socket at once") {
    trace_builder built = built_trace();
    built.object(7, trace::object_kind::socket);
    built.on(1)
        .spawn(10, 1, 0, trace::spawn_started)
        .suspend(100, 1, built.site("read"), 0, 7)
        .wake(400, 1, 0, 1)
        .resume(500, 1)
        .finish(600, 1);
    CHECK(reason_in(built) == wake_reason::unknown);
}

TEST_CASE("the wake of an object that no reactor watches is exact") {
    CHECK(reason_in(served(trace::object_kind::channel, 300)) == wake_reason::unknown);
    CHECK(reason_in(served(trace::object_kind::timer, 300)) == wake_reason::unknown);
}
