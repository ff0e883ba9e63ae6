// SPDX-License-Identifier: Apache-2.0
#pragma once

// Traces for tests of exports, and the bytes of an export.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/model.hpp>

#include "../support/facts_trace.hpp"
#include "../support/trace_builder.hpp"

namespace coroscope_tests {

/// The bytes that an export hands to its sink. `count`: the number that it returns.
template <class Export>
std::string bytes_of(const Export& write_out, std::uint64_t* count = nullptr) {
    std::string bytes;
    const auto done = write_out([&bytes](std::string_view part) {
        bytes += part;
        return true;
    });
    REQUIRE_MESSAGE(done.has_value(), (done ? std::string() : done.error().message));
    if (count != nullptr) *count = *done;
    return bytes;
}

/// Whether an export fails if its sink fails.
template <class Export>
bool fails_with_its_sink(const Export& write_out) {
    return !write_out([](std::string_view) { return false; }).has_value();
}

inline coroscope::analysis::trace loaded(const coroscope::test::trace_builder& built) {
    auto read = coroscope::analysis::load(built.finish());
    REQUIRE(read.has_value());
    return *std::move(read);
}

/// Every kind of element that a trace has (facts_trace.hpp).
inline coroscope::analysis::trace trace_of_facts() {
    return loaded(coroscope::test::facts_trace());
}

inline constexpr std::string_view hostile_name = "\"</script>;=1,\n\x1b[31m\xff\\{}'";

/// Task 1 (a hostile name) awaits task 2 in a scope of that name; task 2 waits for a timer. A scope
/// outside tasks has task 2's work inside.
inline coroscope::analysis::trace hostile_trace() {
    using namespace coroscope;
    test::trace_builder built;
    const auto serve = built.site(hostile_name, hostile_name, 1, trace::site_kind::coroutine);
    const auto load = built.site("load", "a.cpp", 2, trace::site_kind::coroutine);
    const auto fetch = built.site(hostile_name, "a.cpp", 3, trace::site_kind::await);
    const auto timer = built.site("timer", "a.cpp", 4, trace::site_kind::await);
    const auto handle = built.site(hostile_name);
    const auto loop = built.site("loop");
    const auto flags = trace::scope_in_frame | trace::scope_exact;
    built.on(1)
        .spawn(0, 1, serve, trace::spawn_started)
        .spawn(90, 2, load, 0, 1)
        .transfer(100, 1, 2, fetch)
        .suspend(200, 2, timer);
    built.on(2).wake(500, 2, 0, 2).scope(loop, 510, 530);
    built.on(1)
        .resume(560, 2)
        .finish_transfer(600, 2, 1)
        .arguments(50, handle, hostile_name)
        .long_scope(handle, 50, 650, flags, 1, 1)
        .finish(700, 1);
    return loaded(built.lasts(1000));
}

}  // namespace coroscope_tests
