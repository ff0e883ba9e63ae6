// SPDX-License-Identifier: Apache-2.0

// The states of threads in the pictures of a trace: blocked and preempted stretches.

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/perfetto.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../../support/json.hpp"
#include "../chrome_export.hpp"
#include "../state_traces.hpp"
#include "perfetto_decoding.hpp"

namespace {

using namespace coroscope::analysis;
using namespace coroscope_tests;
using enum thread_state;
using arguments = std::map<std::string, std::string>;

constexpr std::string_view main_lane = "service/main";
constexpr std::string_view task_lane = "service/service: tasks/handle (service.cpp:12)";

std::string perfetto_of(const trace& from) {
    std::string bytes;
    const auto done = export_perfetto(from, [&bytes](std::string_view more) {
        bytes += more;
        return true;
    });
    REQUIRE(done.has_value());
    return bytes;
}

decoded_picture picture_of(const trace& from) {
    decoded_picture picture = decode_perfetto(perfetto_of(from));
    CHECK(picture.faults == texts{});
    CHECK(count_overlaps(parse_json(exported(from))) == 0);
    return picture;
}

/// Of the arguments of a bar those that are about states.
arguments states_of(const decoded_slice& drawn) {
    arguments found;
    for (const auto& [key, value] : drawn.arguments) {
        if (key == "on_cpu_ns" || key == "blocked_ns" || key == "preempted_ns" ||
            key == "state_unknown_ns")
            found[key] = value;
    }
    return found;
}

const decoded_slice& bar_at(const decoded_picture& picture, std::string_view lane,
                            std::int64_t start_ns, std::size_t depth) {
    const auto found =
        std::find_if(picture.slices.begin(), picture.slices.end(), [&](const decoded_slice& each) {
            return !each.is_moment && each.start == start_ns && each.depth == depth &&
                   picture.path(each.track) == lane;
        });
    REQUIRE(found != picture.slices.end());
    return *found;
}

/// A thread with scopes and states, and nothing else.
trace thread_trace(std::vector<event> events, thread_history history) {
    trace made = empty_trace();
    made.events = std::move(events);
    made.states.histories = {std::move(history)};
    return made;
}

TEST_CASE("blocked and preempted stretches are bars in the innermost bar of the thread") {
    CHECK(picture_of(states_trace()).lane(main_lane) ==
          texts{"handle 20000..300000", ".handle 50000..250000", "..blocked: futex 100000..180000",
                "..preempted 200000..230000"});
}

TEST_CASE("the same stretches are bars on the lane of the task that ran") {
    CHECK(picture_of(states_trace()).lane(task_lane) ==
          texts{"handle 10000..900000", ".queued 10000..20000", ".handle 20000..900000",
                "..blocked: futex 100000..180000", "..preempted 200000..230000",
                "..await db.query 300000..350000", "..queued 350000..400000"});
}

TEST_CASE("the export for Chrome has the same bars, of a category of their own") {
    const json document = parse_json(exported(states_trace()));
    const auto blocked_bars = named(document, "blocked: futex");
    REQUIRE(blocked_bars.size() == 2);
    for (const json* each : blocked_bars) {
        CHECK((*each)["ts"].nanoseconds() == 100'000);
        CHECK((*each)["dur"].nanoseconds() == 80'000);
        CHECK((*each)["cat"].text == "thread_state");
        CHECK((*each)["args"]["holder_scope"].text == "refill");
    }
    CHECK(named(document, "preempted").size() == 2);
}

TEST_CASE("a blocked bar names the call, the lock, its holder, and the holder's task and scope") {
    trace made = states_trace();
    const arguments without_task{{"call", "futex"},
                                 {"address", "0x7f10"},
                                 {"lock", "mutex"},
                                 {"holder", "worker (4250)"},
                                 {"holder_scope", "refill"}};
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).arguments == without_task);

    task_info holder = made.tasks[0];
    holder.id = 8;
    holder.slices = {2, 1};
    holder.awaits = {};
    made.tasks.push_back(holder);
    made.slices.push_back({130'000, 200'000, 1, 1});
    made.events[2].task = 1;
    const decoded_picture picture = picture_of(made);
    CHECK(bar_at(picture, main_lane, 100'000, 2).arguments.at("holder_task") == "8");
    CHECK(bar_at(picture, main_lane, 100'000, 2).arguments.at("holder_scope") == "refill");
}

TEST_CASE("a blocked bar has the arguments that are known, and no others") {
    trace made = states_trace();
    made.clock = "tsc";
    made.states.looks[0] = {};
    made.states.looks[0].time_ns = 150'000;
    made.states.looks[0].thread = 0;
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).name == "blocked");
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).arguments == arguments{});
    made.states.looks[0].call = 0;
    made.states.looks[0].descriptor = 5;
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).name == "blocked: read");
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).arguments ==
          arguments{{"call", "read"}, {"descriptor", "5"}});
    made.states.looks.clear();
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).name == "blocked");
}

TEST_CASE("of several looks at one wait, the first one that found the holder counts") {
    trace made = states_trace();
    blocked_look early = look_at_mutex(120'000);
    early.holder_os_id = 0;
    early.holder = none;
    blocked_look late = look_at_mutex(170'000);
    late.holder_os_id = 77;
    late.holder = none;
    made.states.looks = {early, look_at_mutex(150'000), late};
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).arguments.at("holder") ==
          "worker (4250)");
    made.states.looks.erase(made.states.looks.begin() + 1);
    CHECK(bar_at(picture_of(made), main_lane, 100'000, 2).arguments.at("holder") == "thread 77");
}

TEST_CASE("slices, scopes and tasks have the division of their running time") {
    const decoded_picture picture = picture_of(states_trace());
    const arguments first_slice{
        {"on_cpu_ns", "170000"}, {"blocked_ns", "80000"}, {"preempted_ns", "30000"}};
    const arguments whole{{"on_cpu_ns", "465000"},
                          {"blocked_ns", "85000"},
                          {"preempted_ns", "30000"},
                          {"state_unknown_ns", "200000"}};
    CHECK(states_of(bar_at(picture, main_lane, 20'000, 0)) == first_slice);
    CHECK(states_of(bar_at(picture, main_lane, 50'000, 1)) ==
          arguments{{"on_cpu_ns", "90000"}, {"blocked_ns", "80000"}, {"preempted_ns", "30000"}});
    CHECK(states_of(bar_at(picture, task_lane, 10'000, 0)) == whole);
    CHECK(states_of(bar_at(picture, task_lane, 20'000, 1)) == whole);
}

TEST_CASE("a part of no time is left out, and time of unknown state is named as that") {
    const trace made = thread_trace({scope_at(0, 100), scope_at(200, 300)},
                                    history_of({{0, on_cpu}, {150, on_cpu}}));
    const decoded_picture picture = picture_of(made);
    CHECK(states_of(bar_at(picture, main_lane, 0, 0)) == arguments{{"on_cpu_ns", "100"}});
    CHECK(states_of(bar_at(picture, main_lane, 200, 0)) == arguments{{"state_unknown_ns", "100"}});
}

TEST_CASE("a scope whose suspension is unknown has no division") {
    trace made = states_trace();
    made.events[0].flags |= event_suspension_unknown;
    CHECK(states_of(bar_at(picture_of(made), task_lane, 20'000, 1)) == arguments{});
}

TEST_CASE("a stretch shorter than ten microseconds is in the arguments only") {
    const trace made = thread_trace({scope_at(0, 100'000)}, history_of({{0, on_cpu},
                                                                        {20'000, blocked},
                                                                        {29'999, preempted},
                                                                        {39'999, on_cpu},
                                                                        {100'000, on_cpu}}));
    const decoded_picture picture = picture_of(made);
    CHECK(picture.lane(main_lane) == texts{"handle 0..100000", ".preempted 29999..39999"});
    CHECK(states_of(bar_at(picture, main_lane, 0, 0)).at("blocked_ns") == "9999");
}

TEST_CASE("a thread without an open scope or slice has no bars of states") {
    const trace made =
        thread_trace({scope_at(100'000, 200'000)}, history_of({{0, blocked}, {500'000, blocked}}));
    CHECK(picture_of(made).lane(main_lane) ==
          texts{"handle 100000..200000", ".blocked 100000..200000"});
}

TEST_CASE("a stretch is cut at the ends of scopes, and displaces none") {
    const trace made = thread_trace(
        {scope_at(0, 400'000), scope_at(100'000, 200'000), scope_at(150'000, 160'000),
         scope_at(200'000, 205'000)},
        history_of({{0, on_cpu}, {80'000, blocked}, {250'000, on_cpu}, {400'000, on_cpu}}));
    const decoded_picture picture = picture_of(made);
    CHECK(picture.lane(main_lane) ==
          texts{"handle 0..400000", ".blocked 80000..100000", ".handle 100000..200000",
                "..blocked 100000..150000", "..handle 150000..160000", "...blocked 150000..160000",
                "..blocked 160000..200000", ".handle 200000..205000", ".blocked 205000..250000"});
    CHECK(picture.tracks.size() == 3);
}

TEST_CASE("states never displace spans or overlap them, however spans and states lie") {
    std::mt19937 random(7);
    const auto below = [&random](std::int64_t limit) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
    };
    trace made = states_trace();
    for (int at = 0; at < 300; ++at) {
        const std::int64_t start = below(900'000);
        event added = scope_at(start, start + below(200'000), at % 3 == 0 ? 0 : none);
        if (at % 3 == 0) {
            added.detail = 0;
            added.flags = event_in_frame;
        }
        added.thread = static_cast<std::uint32_t>(at % 2);
        made.events.push_back(added);
    }
    for (thread_history& each : made.states.histories) {
        std::vector<std::pair<std::int64_t, thread_state>> changes;
        for (std::int64_t time = 0; time < 1'000'000; time += 1 + below(40'000))
            changes.emplace_back(time, static_cast<thread_state>(below(4)));
        each = history_of(changes);
    }
    trace plain = made;
    plain.states = {};
    const auto spans_of = [](const decoded_picture& picture) {
        texts found;
        for (const decoded_slice& each : picture.slices)
            if (each.category != "thread_state")
                found.push_back(picture.path(each.track) + each.name + std::to_string(each.start) +
                                ".." + std::to_string(each.end));
        std::sort(found.begin(), found.end());
        return found;
    };
    CHECK(spans_of(picture_of(made)) == spans_of(picture_of(plain)));
    CHECK_FALSE(picture_of(made).named("preempted").empty());
}

TEST_CASE("a slice with a hand-over inside has the division of its own running time") {
    trace made = states_trace();
    made.slices = {{20'000, 110'000, 0, 0}, {190'000, 300'000, 0, 0}};
    made.awaits[0].handed_over = true;
    made.awaits[0].site = none;
    made.awaits[0].suspend_ns = 110'000;
    made.awaits[0].wake_ns.reset();
    made.awaits[0].resume_ns = 190'000;
    CHECK(states_of(bar_at(picture_of(made), main_lane, 20'000, 0)) ==
          arguments{{"on_cpu_ns", "160000"}, {"blocked_ns", "10000"}, {"preempted_ns", "30000"}});
}

TEST_CASE("a trace without states has no word about them") {
    trace made = states_trace();
    made.states = {};
    const std::string bytes = perfetto_of(made);
    for (const char* word : {"on_cpu_ns", "holder", "blocked", "preempted"}) {
        CHECK(bytes.find(word) == std::string::npos);
        CHECK(exported(made).find(word) == std::string::npos);
    }
}

TEST_CASE("an export by torch's rules has no states of threads") {
    const auto written_by_torch = [](const trace& from) {
        std::string text;
        REQUIRE(export_chrome_trace(events_of(from), [&text](std::string_view more) {
                    text += more;
                    return true;
                }).has_value());
        return text;
    };
    trace plain = states_trace();
    plain.states = {};
    CHECK(written_by_torch(states_trace()) == written_by_torch(plain));
}

TEST_CASE("states and looks that no session can have do no harm") {
    trace made = states_trace();
    made.states.histories = {history_of({{INT64_MIN / 4, blocked}, {INT64_MAX / 4, blocked}}), {}};
    blocked_look odd = look_at_mutex(INT64_MAX);
    odd.thread = odd.holder = 99;
    made.states.looks.push_back(odd);
    odd = look_at_mutex(100'000);
    odd.descriptor = INT64_MIN;
    made.states.looks.insert(made.states.looks.begin(), odd);
    made.slices[1].thread = 99;
    made.tasks[0].slices = {0, 99};
    made.events[2].name = 99;
    CHECK_FALSE(picture_of(made).named("blocked: futex").empty());
    made.slices.clear();
    made.threads.clear();
    picture_of(made);
}

}  // namespace
