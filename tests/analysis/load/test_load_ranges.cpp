// SPDX-License-Identifier: Apache-2.0
// Ranges that end on completion, ranges that never end, and the items of item streams.

#include <doctest/doctest.h>

#include "../loading.hpp"
#include <coroscope/analysis/stream_statistics.hpp>
#include <coroscope/analysis/views.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

constexpr std::uint32_t completed =
    trace::scope_dynamic | trace::scope_explicit | trace::scope_range;

}  // namespace

TEST_CASE("the time of a range is divided as that of the task in which it began, even if it ends "
          "elsewhere") {
    trace_builder built;
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .label(100, 1, "query")
        .suspend(150, 1)
        .wake(400, 1);
    built.on(2).long_scope(1, 100, 420, completed, 1, 1).resume(450, 1).finish(600, 1);
    const analysis::trace loaded = load(built);
    const analysis::event& query = event(loaded, "query");
    CHECK(query.task == 0);
    CHECK((query.flags & analysis::event_async) != 0);
    CHECK((query.flags & analysis::event_suspension_unknown) == 0);
    const analysis::time_split& time = loaded.details[query.detail].time;
    CHECK(time.running_ns == 50);
    CHECK(time.suspended_ns == 250);
    CHECK(time.queued_ns == 20);
    CHECK(query.self_running_ns == 0);
    CHECK(loaded.health.open_ranges == 0);
}

TEST_CASE("a range takes neither children nor time from the scopes that it overlaps") {
    trace_builder built;
    const auto outer = built.site("outer"), inner = built.site("inner");
    built.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .label(20, 1, "overlapping")
        .scope(inner, 30, 40)
        .scope(outer, 10, 100)
        .long_scope(1, 20, 150, completed, 1)
        .finish(200, 1);
    const analysis::trace loaded = load(built);
    CHECK(event(loaded, "overlapping").parent == analysis::none);
    CHECK(&loaded.events[event(loaded, "inner").parent] == &event(loaded, "outer"));
    CHECK(event(loaded, "outer").self_running_ns == 80);
    CHECK((event(loaded, "outer").flags & analysis::event_async) == 0);
}

TEST_CASE("a label without an end is an open range of the task that ran at its beginning") {
    trace_builder built;
    built.lasts(1000);
    built.on(1)
        .label(50, 1, "outside tasks")
        .spawn(100, 7, 0, trace::spawn_started)
        .label(200, 2, "in a task")
        .suspend(300, 7)
        .label(400, 3, "ended")
        .long_scope(3, 400, 500, completed);
    const analysis::trace loaded = load(built);
    CHECK(loaded.health.open_ranges == 2);
    const analysis::event& outside = event(loaded, "outside tasks");
    CHECK((outside.flags & analysis::event_open) != 0);
    CHECK(outside.end_ns == 1000);
    CHECK(outside.task == analysis::none);
    const analysis::event& inside = event(loaded, "in a task");
    CHECK((inside.flags & analysis::event_open) != 0);
    CHECK(inside.task == 0);
    CHECK(loaded.details[inside.detail].time.running_ns == 100);
    CHECK(loaded.details[inside.detail].time.waiting_ns +
              loaded.details[inside.detail].time.suspended_ns ==
          700);
    CHECK((event(loaded, "ended").flags & analysis::event_open) == 0);
    CHECK(analysis::loss_notes(loaded) == "Ranges that had not ended when the session did: 2\n");
}

TEST_CASE("labels of one serial on two threads are two ranges") {
    trace_builder built;
    built.lasts(100);
    built.on(1).label(10, 1, "first").long_scope(1, 10, 30, completed);
    built.on(2).label(10, 1, "second");
    const analysis::trace loaded = load(built);
    CHECK((event(loaded, "first").flags & analysis::event_open) == 0);
    CHECK((event(loaded, "second").flags & analysis::event_open) != 0);
}

TEST_CASE("first-item delays and gaps are exact, by label, over item streams and threads") {
    trace_builder built;
    built.lasts(10'000);
    auto one = built.on(1);
    auto two = built.on(2);
    one.label(100, 1, "rows").item(100, 1, 0).label(200, 2, "pages").item(200, 2, 0);
    one.item(150, 1, 1).item(250, 1, 3).item(900, 2, 1);
    two.item(180, 1, 2, 1).label(300, 1, "rows").item(300, 1, 0).item(1300, 1, 1);
    one.long_scope(1, 100, 400, completed).long_scope(2, 200, 950, completed);
    const analysis::trace loaded = load(built);
    const auto statistics = analysis::statistics_of_streams(loaded);
    REQUIRE(statistics.size() == 2);
    const auto& rows = statistics[0];
    CHECK(rows.name == "rows");
    CHECK(rows.count == 2);
    CHECK(rows.unfinished == 1);
    CHECK(rows.items == 4);
    CHECK(rows.lost_items == 0);
    CHECK(rows.first_item.count == 2);
    CHECK(rows.first_item.p50_ns == 50);
    CHECK(rows.first_item.max_ns == 1000);
    CHECK(rows.gap.count == 2);
    CHECK(rows.gap.p50_ns == 30);
    CHECK(rows.gap.p95_ns == 70);
    CHECK(statistics[1].name == "pages");
    CHECK(statistics[1].first_item.p50_ns == 700);
    CHECK(statistics[1].gap.count == 0);
}

TEST_CASE("lost items are counted, and the gaps beside them are left out") {
    trace_builder built;
    built.on(1)
        .label(100, 1, "rows")
        .item(130, 1, 2)
        .item(150, 1, 3)
        .item(190, 1, 6)
        .long_scope(1, 100, 400, completed);
    const auto statistics = analysis::statistics_of_streams(load(built));
    REQUIRE(statistics.size() == 1);
    CHECK(statistics[0].items == 3);
    CHECK(statistics[0].lost_items == 3);
    CHECK(statistics[0].first_item.count == 0);
    CHECK(statistics[0].gap.count == 1);
    CHECK(statistics[0].gap.max_ns == 20);
}

TEST_CASE("a range whose beginning is recorded more than once has its own items only") {
    trace_builder built;
    built.on(1)
        .label(100, 1, "rows")
        .item(100, 1, 0)
        .item(100, 1, 0)
        .item(100, 1, 0)
        .item(150, 1, 1)
        .label(500, 2, "pages")
        .item(500, 2, 0)
        .item(500, 2, 0)
        .item(900, 2, 1);
    const analysis::trace loaded = load(built);
    REQUIRE(loaded.streams.size() == 2);
    for (const analysis::stream_info& each : loaded.streams) {
        REQUIRE(each.items.size() == 1);
        REQUIRE(each.items.front() < loaded.stream_items.size());
    }
    CHECK(loaded.stream_items[loaded.streams[0].items.front()].time_ns == 150);
    CHECK(loaded.stream_items[loaded.streams[1].items.front()].time_ns == 900);
}

TEST_CASE("more lost items than 64 bits hold are counted as the largest figure") {
    constexpr std::uint64_t last = 0xffff'ffff'ffff'fffe;
    trace_builder built;
    for (const std::uint32_t serial : {1U, 2U})
        built.on(1).label(100, serial, "rows").item(150, serial, 1).item(160, serial, last);
    const auto statistics = analysis::statistics_of_streams(load(built));
    REQUIRE(statistics.size() == 1);
    CHECK(statistics[0].lost_items == 0xffff'ffff'ffff'ffff);
    const analysis::listing list = analysis::list_streams(statistics);
    CHECK(analysis::to_csv(list).find(",9223372036854775807,2\n") != std::string::npos);
}

TEST_CASE("items whose range is lost are a warning, and no item stream") {
    trace_builder built;
    built.on(1).item(130, 9, 1).item(140, 9, 2);
    const auto loaded = analysis::load(built.finish());
    REQUIRE(loaded);
    CHECK(loaded->streams.empty());
    REQUIRE(loaded->health.warnings.size() == 1);
    CHECK(loaded->health.warnings[0] == "2 items belong to ranges whose label is lost");
}
