// SPDX-License-Identifier: Apache-2.0

// The kernel's facts of a recorded trace, in its exports.

#include <doctest/doctest.h>

#include <string>

#include "../../support/json.hpp"
#include "../chrome_export.hpp"
#include "../loading.hpp"

namespace {

using namespace coroscope;
using namespace coroscope::test;
using coroscope_tests::count_overlaps;
using coroscope_tests::exported;
using coroscope_tests::json;
using coroscope_tests::named;
using coroscope_tests::parse_json;

TEST_CASE("recorded switches and looks are bars inside the scope of their thread") {
    trace_builder built;
    built.lasts(1'000'000);
    const auto handle = built.site("handle");
    const auto refill = built.site("refill");
    built.on(1).scope(handle, 10'000, 900'000);
    built.on(2).scope(refill, 100'000, 600'000);
    trace::blocked_body look{};
    look.thread = 1;
    look.call = 202;
    look.address = 0x7f10;
    look.holder = 2;
    look.lock = static_cast<std::uint32_t>(trace::blocked_lock::mutex);
    built.kernel()
        .enters(1, 0)
        .leaves(1, 200'000)
        .blocked(300'000, 200'000, look)
        .enters(1, 500'000)
        .preempted(1, 700'000)
        .enters(1, 750'000);
    const json document = parse_json(exported(load(built)));
    CHECK(count_overlaps(document) == 0);
    const auto blocked = named(document, "blocked: futex");
    REQUIRE(blocked.size() == 1);
    CHECK((*blocked[0])["ts"].nanoseconds() == 200'000);
    CHECK((*blocked[0])["dur"].nanoseconds() == 300'000);
    CHECK((*blocked[0])["args"]["holder_scope"].text == "refill");
    CHECK(named(document, "preempted").size() == 1);
    const json& arguments = (*named(document, "handle").at(0))["args"];
    CHECK(arguments["on_cpu_ns"].integer() == 540'000);
    CHECK(arguments["blocked_ns"].integer() == 300'000);
    CHECK(arguments["preempted_ns"].integer() == 50'000);
}

}  // namespace
