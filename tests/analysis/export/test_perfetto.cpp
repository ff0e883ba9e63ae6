// SPDX-License-Identifier: Apache-2.0

// The export to Perfetto's own format, decoded as its viewer does.

#include <coroscope/analysis/perfetto.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include "../small_traces.hpp"
#include "perfetto_decoding.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope_tests::decode_perfetto;
using coroscope_tests::decoded_picture;
using coroscope_tests::decoded_slice;
using coroscope_tests::empty_trace;
using coroscope_tests::scope_at;
using coroscope_tests::task_trace;
using texts = std::vector<std::string>;

std::string exported(const trace& from, perfetto_totals* totals = nullptr) {
    std::string bytes;
    const auto done = export_perfetto(from, [&bytes](std::string_view more) {
        bytes += more;
        return true;
    });
    REQUIRE(done.has_value());
    if (totals != nullptr) *totals = *done;
    return bytes;
}

/// The picture that a viewer shows. It must have no faults.
decoded_picture shown(const trace& from, perfetto_totals* totals = nullptr) {
    decoded_picture picture = decode_perfetto(exported(from, totals));
    CHECK(picture.faults == texts{});
    return picture;
}

TEST_CASE("a process has a track of its name and id, with its threads' names and ids below it") {
    const decoded_picture picture = shown(empty_trace());
    texts tracks;
    for (const auto& [uuid, track] : picture.tracks)
        tracks.push_back(picture.path(uuid) + " " + std::to_string(track.pid) + " " +
                         std::to_string(track.tid));
    CHECK(tracks == texts{"service 4242 -1", "service/main 4242 4242", "service/worker 4242 4250"});
}

TEST_CASE("times are nanoseconds, exact even if they are large") {
    trace made = empty_trace();
    made.events = {scope_at(1'234'567'890'123'456'789, 1'234'567'890'123'456'790)};
    CHECK(shown(made).lane("service/main") ==
          texts{"handle 1234567890123456789..1234567890123456790"});
}

TEST_CASE("times are of a clock that starts with the session, and a snapshot gives its real time") {
    trace made = empty_trace();
    CHECK(shown(made).clock_of_events == 0);
    CHECK(shown(made).clocks.empty());
    made.start_realtime_ns = 1'700'000'000'000'000'001;
    const decoded_picture picture = shown(made);
    CHECK(picture.clock_of_events == 64);
    CHECK(picture.clocks ==
          std::map<std::uint32_t, std::int64_t>{{1, 1'700'000'000'000'000'001}, {64, 0}});
    for (const std::int64_t absurd : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
        made.start_realtime_ns = absurd;
        CHECK(shown(made).clock_of_events == 0);
    }
}

TEST_CASE("scopes nest on their thread, and a scope may begin at the end of another") {
    trace made = empty_trace();
    made.events = {scope_at(0, 100), scope_at(0, 40),  scope_at(10, 40),
                   scope_at(40, 60), scope_at(40, 40), scope_at(60, 100)};
    CHECK(shown(made).lane("service/main") == texts{"handle 0..100", ".handle 0..40",
                                                    "..handle 10..40", ".handle 40..60",
                                                    "..handle 40..40", ".handle 60..100"});
}

TEST_CASE("a scope without length is drawn at its time, inside the scope that begins there") {
    trace made = empty_trace();
    made.events = {scope_at(5, 5), scope_at(5, 5), scope_at(5, 9), scope_at(9, 9), scope_at(9, 12)};
    CHECK(shown(made).lane("service/main") ==
          texts{"handle 5..9", ".handle 5..5", ".handle 5..5", "handle 9..12", ".handle 9..9"});
}

TEST_CASE("a task's slices are on the threads, and the task, its scope and its await on a lane of "
          "tasks") {
    perfetto_totals totals;
    const decoded_picture picture = shown(task_trace(), &totals);
    CHECK(totals.tasks == 1);
    CHECK(totals.slices == 2);
    CHECK(totals.scopes == 1);
    CHECK(totals.awaits == 1);
    CHECK(totals.left_out == 0);
    CHECK(picture.lane("service/main") == texts{"handle 200..300"});
    CHECK(picture.lane("service/worker") == texts{"handle 700..900"});
    CHECK(picture.lane("service/service: tasks/handle (service.cpp:12)") ==
          texts{"handle 150..900", ".queued 150..200", ".handle 200..900",
                "..await db.query 300..500", "..queued 500..700"});
}

TEST_CASE("the values of a label are a counter track, without those that are not finite") {
    trace made = empty_trace();
    for (const double number : {7.0, std::numeric_limits<double>::infinity(), -0.5}) {
        value_info& value = made.values.emplace_back();
        value.time_ns = 10 * static_cast<std::int64_t>(made.values.size());
        value.number = number;
        value.site = 1;
    }
    const std::vector<coroscope_tests::decoded_count> counts{{"service/db.query", 10, 7.0},
                                                             {"service/db.query", 30, -0.5}};
    CHECK(shown(made).counts == counts);
}

TEST_CASE("an arrow leads from the spawn, and one from the wake, to the slice that followed") {
    perfetto_totals totals;
    const decoded_picture picture = shown(task_trace(), &totals);
    CHECK(totals.flows == 2);
    CHECK(picture.arrows() == texts{"spawn 100 -> handle 200", "wake 500 -> handle 700"});
    CHECK(picture.path(picture.named("wake").at(0)->track) == "service/worker");
}

TEST_CASE("an arrow of a hand-over starts before its slice") {
    trace made = task_trace();
    made.awaits[0].wake_ns = made.awaits[0].resume_ns;
    CHECK(shown(made).arrows() == texts{"spawn 100 -> handle 200", "wake 699 -> handle 700"});
}

TEST_CASE("the details of a bar are its annotations, and its category is written with its name") {
    trace made = task_trace();
    made.strings.push_back("x=1, y=\"two\"");
    made.details[0].arguments = 1;
    made.events[0].flags |= event_clipped;
    made.awaits[0].wake_ns.reset();
    const decoded_picture picture = shown(made);
    using arguments = std::map<std::string, std::string>;
    std::map<std::string, arguments> said;
    for (const decoded_slice& each : picture.slices) said[each.category] = each.arguments;
    CHECK(said["http"] == arguments{{"task", "7"},
                                    {"at", "src/service.cpp:12"},
                                    {"clipped", "true"},
                                    {"running_ns", "300"},
                                    {"suspended_ns", "200"},
                                    {"queued_ns", "200"},
                                    {"waiting_ns", "0"},
                                    {"self_ns", "0"},
                                    {"arguments", "x=1, y=\"two\""}});
    CHECK(said["await"] == arguments{{"at", "src/store.cpp:42"}, {"wake", "unseen"}});
    CHECK(said["task"]["state"] == "finished");
    CHECK(said["slice"] == arguments{{"task", "7"}, {"at", "src/service.cpp:12"}});
}

TEST_CASE("numbers keep their sign") {
    trace made = task_trace();
    made.details[0].time = {-1, INT64_MIN, INT64_MAX, 0};
    const decoded_picture picture = shown(made);
    const decoded_slice& scope =
        *std::find_if(picture.slices.begin(), picture.slices.end(),
                      [](const auto& of) { return of.category == "http"; });
    CHECK(scope.arguments.at("running_ns") == "-1");
    CHECK(scope.arguments.at("suspended_ns") == "-9223372036854775808");
    CHECK(scope.arguments.at("queued_ns") == "9223372036854775807");
}

TEST_CASE("lanes of one place have numbers, and are in the order of their first tasks") {
    trace made = task_trace();
    made.tasks.push_back(made.tasks[0]);
    made.tasks[1].slices = made.tasks[1].awaits = {};
    const decoded_picture picture = shown(made);
    std::map<std::string, std::int64_t> ranks;
    for (const auto& [uuid, track] : picture.tracks)
        if (track.name.starts_with("handle (service.cpp:12)")) ranks[track.name] = track.rank;
    CHECK(ranks == std::map<std::string, std::int64_t>{{"handle (service.cpp:12)", 0},
                                                       {"handle (service.cpp:12) 2", 1}});
}

TEST_CASE("spans that overlap never share a lane, and every span is drawn") {
    trace made = task_trace();
    for (std::int64_t at = 0; at < 60; ++at) {
        made.events.push_back(scope_at(10 * at, 10 * at + 25 + at % 7));    // on a thread
        event moved = scope_at(205 + 10 * at, 230 + 10 * at + at % 11, 0);  // in the task
        moved.detail = 0;
        moved.flags = event_in_frame;
        made.events.push_back(moved);
    }
    std::map<std::pair<std::int64_t, std::int64_t>, int> missing;
    for (const event& each : made.events) ++missing[{each.start_ns, each.end_ns}];
    const decoded_picture picture = shown(made);
    for (const decoded_slice& each : picture.slices)
        if (each.category == "http") --missing[{each.start, each.end}];
    CHECK(
        std::all_of(missing.begin(), missing.end(), [](const auto& of) { return of.second == 0; }));
    CHECK_FALSE(picture.lane("service/overlapping 1").empty());
    CHECK_FALSE(picture.lane("service/service: tasks/overlapping 1").empty());
}

TEST_CASE("scopes that overlap too much are left out, and the trace counts them") {
    trace made = empty_trace();
    for (std::int64_t at = 0; at < 1000; ++at) made.events.push_back(scope_at(at, 10'000 + at));
    made.health.dropped_newest = 3;
    perfetto_totals totals;
    const decoded_picture picture = shown(made, &totals);
    CHECK(totals.left_out > 0);
    CHECK(totals.left_out + picture.slices.size() == 1000);
    CHECK(picture.told.at("left_out") == static_cast<std::int64_t>(totals.left_out));
    CHECK(picture.told.at("dropped_newest") == 3);
}

TEST_CASE(
    "scopes that moved outside every task have lanes between the threads, which are used again") {
    trace made = empty_trace();
    for (const auto& [start, end] : {std::pair{0, 100}, {5, 105}, {100, 110}}) {
        event scope = scope_at(start, end);
        scope.detail = 0;
        scope.flags = event_in_frame | event_suspension_unknown;
        made.events.push_back(scope);
    }
    made.details = {{{0, 0, 0, 100}, 1, none}};
    const decoded_picture picture = shown(made);
    CHECK(picture.lane("service/between threads 1") == texts{"handle 0..100", "handle 100..110"});
    CHECK(picture.lane("service/between threads 2") == texts{"handle 5..105"});
    CHECK(picture.named("handle").at(0)->arguments.at("suspension") == "unknown");
}

TEST_CASE("each name, category and place is written once") {
    const std::string label = "a label like no other";
    trace made = empty_trace();
    made.strings[0] = made.sites[0].label = label;
    for (std::int64_t at = 0; at < 100; ++at) made.events.push_back(scope_at(at, at + 1));
    const std::string bytes = exported(made);
    std::size_t found = 0;
    for (std::size_t at = bytes.find(label); at != std::string::npos;
         at = bytes.find(label, at + 1))
        ++found;
    CHECK(found == 1);
    CHECK(decode_perfetto(bytes).named(label).size() == 100);
}

TEST_CASE("a hostile name is made UTF-8 in every place it appears") {
    const std::string hostile = "a\"b\\c\nd\x01\x1b\x7f\xff" + std::string(5000, 'n');
    const std::string clean = "a\"b\\c\nd\x01\x1b\x7f\xef\xbf\xbd" + std::string(5000, 'n');
    trace made = task_trace();
    made.process_name = made.strings[0] = hostile;
    made.strings.push_back(hostile);
    made.details[0].arguments = 1;
    made.threads[0].name = hostile;
    for (site_info& site : made.sites) site.label = site.file = site.category = hostile;
    const decoded_picture picture = shown(made);
    CHECK(picture.named(clean).size() == 4);
    CHECK(picture.named("await " + clean).size() == 1);
    CHECK(picture.lane(clean + "/" + clean).size() == 1);
    CHECK(picture.slices.back().category == "slice");
}

TEST_CASE(
    "processes, threads and sites without a name get one, and a zero byte is part of a name") {
    trace made = task_trace();
    made.process_name.clear();
    made.strings[0] = std::string("a\0b", 3);
    made.threads[0].name.clear();
    for (site_info& site : made.sites) site = {};
    const decoded_picture picture = shown(made);
    CHECK(picture.named(made.strings[0]).size() == 1);
    CHECK(picture.lane("process/thread 1") == texts{"(unnamed) 200..300"});
}

TEST_CASE("the export survives impossible times and indices") {
    trace made = task_trace();
    made.process_id = 0xFFFF'FFFF;
    made.threads[0].os_id = UINT64_MAX;
    made.events = {scope_at(-500, -100), scope_at(300, 200), scope_at(0, INT64_MAX)};
    for (event& each : made.events) each.thread = each.name = each.site = each.detail = 99;
    made.events.push_back(scope_at(INT64_MIN, INT64_MIN, 77));
    made.tasks[0].first_wake_ns = INT64_MIN;
    made.tasks[0].end_ns = INT64_MIN;
    made.slices[0] = {INT64_MAX, INT64_MIN, 99, 99};
    made.awaits[0].task = 99;
    made.start_realtime_ns = INT64_MAX / 2;
    const decoded_picture picture = shown(made);
    CHECK(picture.lane("service/unknown thread").size() == 4);
    made.tasks.clear();
    CHECK_FALSE(shown(made).lane("service/tasks/overlapping 1").empty());
}

TEST_CASE("an empty trace is exported as a process without slices") {
    perfetto_totals totals;
    const decoded_picture picture = shown(trace{}, &totals);
    CHECK(picture.tracks.size() == 1);
    CHECK(picture.slices.empty());
    CHECK(totals.scopes == 0);
    CHECK(picture.told.size() == 11);
}

TEST_CASE("a sink that refuses ends the export with a failure") {
    trace made = empty_trace();
    for (std::int64_t at = 0; at < 100'000; ++at) made.events.push_back(scope_at(at, at));
    int calls = 0;
    const auto done = export_perfetto(made, [&calls](std::string_view) { return ++calls < 2; });
    CHECK_FALSE(done.has_value());
    CHECK(calls == 2);
}

TEST_CASE("the sink gets at most a mebibyte at a time, even in the middle of a packet") {
    trace made = empty_trace();
    for (std::int64_t at = 0; at < 100'000; ++at) made.events.push_back(scope_at(at, at + 1));
    std::size_t most = 0;
    std::string bytes;
    REQUIRE(export_perfetto(made, [&](std::string_view part) {
                most = std::max(most, part.size());
                bytes += part;
                return true;
            }).has_value());
    CHECK(most <= std::size_t{1} << 20);
    CHECK(bytes.size() > most);
    CHECK(decode_perfetto(bytes).slices.size() == 100'000);
}

TEST_CASE("a name longer than the buffer is written whole") {
    trace made = empty_trace();
    made.strings[0] = std::string(3'000'000, 'x');
    made.events = {scope_at(0, 10), scope_at(1, 2)};
    CHECK(shown(made).named(made.strings[0]).size() == 2);
}

TEST_CASE("the check for data that viewers lose can fail") {
    std::string bytes = exported(task_trace());
    REQUIRE(decode_perfetto(bytes).faults.empty());
    CHECK_FALSE(decode_perfetto(bytes + bytes).faults.empty());
    const std::size_t interned = bytes.find("await db.query");
    REQUIRE(interned != std::string::npos);
    bytes[interned - 3] = 0;  // its number
    CHECK_FALSE(decode_perfetto(bytes).faults.empty());
}

}  // namespace
