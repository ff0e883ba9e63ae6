// SPDX-License-Identifier: Apache-2.0
#pragma once

// Traces for tests of parts.

#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/select_part.hpp>
#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "../../support/trace_builder.hpp"

namespace coroscope_tests {

namespace analysis = coroscope::analysis;

/// Task 7 handles a request on two threads and awaits its child, task 8. Task 20 has ended before
/// the others begin. Thread 2 has scopes outside tasks around the runs of tasks.
inline coroscope::test::trace_builder served_requests() {
    namespace format = coroscope::trace;
    coroscope::test::trace_builder built;
    built.header.all_threads = 1;
    const auto handle = built.site("handle", "a.cpp", 1, format::site_kind::coroutine);
    const auto child = built.site("child", "a.cpp", 2, format::site_kind::coroutine);
    const auto old = built.site("old", "a.cpp", 3, format::site_kind::coroutine);
    const auto wait = built.site("wait", "a.cpp", 4, format::site_kind::await);
    const auto parse = built.site("parse");
    const auto split = built.site("split");
    const auto loop = built.site("loop");
    built.lasts(2000);
    built.on(1)
        .spawn(10, 20, old, format::spawn_ready)
        .resume(20, 20)
        .scope(parse, 25, 30)
        .suspend(40, 20, wait)
        .resume(80, 20)
        .finish(100, 20)
        .spawn(150, 7, handle, format::spawn_ready)
        .resume(200, 7)
        .scope(split, 215, 235)
        .scope(parse, 210, 260)
        .suspend(300, 7, wait);
    built.on(2)
        .wake(500, 7)
        .resume(700, 7)
        .spawn(720, 8, child, 0, 7)
        .transfer(750, 7, 8, wait)
        .scope(split, 760, 790)
        .finish_transfer(800, 8, 7)
        .scope(parse, 810, 870)
        .finish(900, 7)
        .scope(loop, 650, 950)
        .scope(parse, 1000, 1100)
        .scope(loop, 960, 1460);
    return built;
}

inline analysis::trace whole_of(const coroscope::test::trace_builder& built) {
    auto loaded = analysis::load(built.finish());
    REQUIRE(loaded);
    return *std::move(loaded);
}

inline analysis::trace part_of(const analysis::trace& whole, std::int64_t from_ns,
                               std::int64_t to_ns) {
    auto part = analysis::select_part(whole, {.from_ns = from_ns, .to_ns = to_ns});
    REQUIRE(part);
    return *std::move(part);
}

}  // namespace coroscope_tests
