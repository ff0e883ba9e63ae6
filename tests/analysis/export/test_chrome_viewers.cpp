// SPDX-License-Identifier: Apache-2.0

// Exports as viewers draw them: each lane nests as recorded, by the rules of speedscope, Perfetto and DevTools.

#include "../chrome_export.hpp"
#include "../small_traces.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace {

using namespace coroscope_tests;

/// An event of the document, as a viewer reads it.
struct read_event {
    std::string name;
    std::string arguments;
    double time_us = 0;
    double duration_us = 0;
    std::size_t number = 0;  // in the file
};

struct lane_events {
    std::vector<read_event> events;
};

std::string text_of(const json& value) {
    std::string text = value.text + (value.boolean ? "true" : "");
    for (const auto& [key, member] : value.members) text += key + "=" + text_of(member) + ";";
    return text;
}

std::map<std::pair<long long, long long>, lane_events> read_lanes(const json& document) {
    std::map<std::pair<long long, long long>, lane_events> lanes;
    std::size_t number = 0;
    for (const json& each : document["traceEvents"].elements) {
        if (each["ph"].text != "X") continue;
        lanes[{each["pid"].integer(), each["tid"].integer()}].events.push_back(
            {each["name"].text, text_of(each["args"]), std::stod(each["ts"].text),
             std::stod(each["dur"].text), number++});
    }
    return lanes;
}

/// "name@depth" in the order in which frames open, or the fault.
using nesting = std::vector<std::string>;

std::string frame_of(const read_event& event, std::size_t depth) {
    return event.name + " " + event.arguments + "@" + std::to_string(depth);
}

/// Times count from the lane's first time, and an end is its start plus its duration. Begins and
/// ends are two queues, and the earlier front goes next. If both fronts have one time, the end goes
/// next, unless both have the same key. If an end does not belong to the innermost open frame, an
/// end of the same time that does is taken instead. If there is none, the end is unmatched.
nesting by_speedscope(lane_events lane) {
    std::vector<read_event>& events = lane.events;
    const double first = std::ranges::min_element(events, {}, &read_event::time_us)->time_us;
    for (read_event& each : events) each.time_us -= first;
    std::ranges::stable_sort(events, [](const read_event& left, const read_event& right) {
        return left.time_us != right.time_us ? left.time_us < right.time_us
                                             : left.duration_us > right.duration_us;
    });
    const auto key = [](const read_event& event) { return event.name + " " + event.arguments; };
    std::deque<read_event> begins(events.begin(), events.end());
    std::deque<read_event> ends = begins;
    for (read_event& each : ends) each.time_us += each.duration_us;
    std::ranges::stable_sort(ends, {}, &read_event::time_us);
    nesting found;
    std::vector<read_event> open;
    while (!begins.empty() || !ends.empty()) {
        const bool begin =
            !begins.empty() && (ends.empty() || begins.front().time_us < ends.front().time_us ||
                                (begins.front().time_us == ends.front().time_us &&
                                 key(begins.front()) == key(ends.front())));
        if (begin) {
            found.push_back(frame_of(begins.front(), open.size()));
            open.push_back(begins.front());
            begins.pop_front();
            continue;
        }
        if (!open.empty()) {
            const auto of_this_time = [&](const auto& matches) {
                return std::find_if(ends.begin(), ends.end(), [&](const read_event& each) {
                    return each.time_us == ends.front().time_us && matches(each);
                });
            };
            auto match =
                of_this_time([&](const read_event& each) { return key(each) == key(open.back()); });
            if (match == ends.end())
                match = of_this_time(
                    [&](const read_event& each) { return each.name == open.back().name; });
            if (match != ends.end()) std::iter_swap(match, ends.begin());
        }
        if (open.empty() || open.back().name != ends.front().name)
            found.push_back("unmatched end of " + ends.front().name);
        else
            open.pop_back();
        ends.pop_front();
    }
    for (const read_event& each : open) found.push_back("never closed: " + each.name);
    return found;
}

/// Times are whole nanoseconds. A frame is closed if it has ended when the next event starts. An
/// event that ends after the frame around it is a fault.
nesting by_perfetto(lane_events lane) {
    const auto ns = [](double us) { return static_cast<std::int64_t>(std::llround(us * 1000)); };
    std::ranges::stable_sort(lane.events, {},
                             [&](const read_event& each) { return ns(each.time_us); });
    nesting found;
    std::vector<std::int64_t> open;  // ends
    for (const read_event& each : lane.events) {
        const std::int64_t start = ns(each.time_us);
        const std::int64_t end = start + ns(each.duration_us);
        while (!open.empty() && open.back() <= start) open.pop_back();
        if (!open.empty() && open.back() < end) found.push_back("overlaps: " + each.name);
        found.push_back(frame_of(each, open.size()));
        open.push_back(end);
    }
    return found;
}

/// An end is the sum of time and duration as doubles. An event that begins within another event and
/// ends after it is left out.
nesting by_devtools(lane_events lane) {
    std::ranges::stable_sort(lane.events, [](const read_event& left, const read_event& right) {
        return left.time_us != right.time_us ? left.time_us < right.time_us
                                             : left.duration_us > right.duration_us;
    });
    nesting found;
    std::vector<double> open;  // ends
    for (const read_event& each : lane.events) {
        const double end = each.time_us + each.duration_us;
        while (!open.empty() && open.back() <= each.time_us) open.pop_back();
        if (!open.empty() && end > open.back()) {
            found.push_back("left out: " + each.name);
            continue;
        }
        found.push_back(frame_of(each, open.size()));
        open.push_back(end);
    }
    return found;
}

/// Frames of one time may open in different orders. Their depths must be equal.
nesting sorted(nesting frames) {
    std::ranges::sort(frames);
    return frames;
}

void check_viewers(const analysis::trace& trace) {
    for (const auto& [where, lane] : read_lanes(json_parser(exported(trace)).document())) {
        CAPTURE(where.second);
        const nesting expected = sorted(by_perfetto(lane));
        CHECK(sorted(by_speedscope(lane)) == expected);
        CHECK(sorted(by_devtools(lane)) == expected);
    }
}

/// A task that waits and is queued again and again, without a gap. Times are odd, so that no sum of
/// doubles is exact.
analysis::trace waiting_task(std::int64_t first_ns, int rounds) {
    analysis::trace made = task_trace();
    made.slices.clear();
    made.awaits.clear();
    made.events.clear();
    made.duration_ns = first_ns + 1'000'000;
    analysis::task_info& task = made.tasks[0];
    std::int64_t now_ns = first_ns;
    task.spawn_ns = task.first_wake_ns = now_ns;
    for (int round = 0; round < rounds; ++round) {
        const std::int64_t ran_ns = now_ns + 57 + round % 7;
        made.slices.push_back({now_ns, ran_ns, 0, static_cast<std::uint32_t>(round % 2)});
        analysis::await_info await;
        await.task = 0;
        await.site = 1;
        await.suspend_ns = ran_ns;
        await.wake_ns = ran_ns + 101 + round % 13;
        await.resume_ns = now_ns = *await.wake_ns + 33 + round % 3;
        made.awaits.push_back(await);
    }
    made.slices.push_back({now_ns, now_ns + 10, 0, 0});
    task.slices = {0, static_cast<std::uint32_t>(made.slices.size())};
    task.awaits = {0, static_cast<std::uint32_t>(made.awaits.size())};
    task.end_ns = now_ns + 10;
    return made;
}

TEST_CASE(
    "every viewer draws a queued bar that begins in the nanosecond of the wake beside the await") {
    for (const std::int64_t first_ns :
         {std::int64_t{101}, std::int64_t{1'234'567}, std::int64_t{86'400'000'000'007}})
        check_viewers(waiting_task(first_ns, 200));
}

TEST_CASE("neighbours of one name, and children that end with their parents, nest as recorded") {
    analysis::trace made = empty_trace();
    made.strings = {"f", "g"};
    made.duration_ns = 10'000'000;
    for (std::int64_t at = 333; at < 40'000; at += 111) {
        made.events.push_back(scope_at(at, at + 111));
        made.events.push_back(scope_at(at, at + 111));
        made.events.push_back(scope_at(at + 37, at + 111));
        made.events.back().name = 1;
    }
    check_viewers(made);
}

TEST_CASE("scopes of no length nest as recorded, wherever they are") {
    analysis::trace made = empty_trace();
    made.strings = {"f", "g"};
    for (std::int64_t at = 333; at < 9'000; at += 111) {
        made.events.push_back(scope_at(at, at + 100));
        made.events.push_back(scope_at(at, at));
        made.events.back().name = 1;
        made.events.push_back(scope_at(at + 100, at + 100));
    }
    check_viewers(made);
}

TEST_CASE("slices that follow each other at once nest as recorded") {
    analysis::trace made = waiting_task(777, 50);
    made.awaits.update([](analysis::await_info& each, std::size_t) {
        each.wake_ns = each.suspend_ns;
        each.resume_ns = each.suspend_ns;
        return true;
    });
    std::int64_t now_ns = 777;
    for (std::size_t at = 0; at < made.slices.size(); ++at) {
        made.slices[at] = {now_ns, now_ns + 33, 0, 0};
        if (at < made.awaits.size())
            made.awaits[at].suspend_ns = now_ns + 33, made.awaits[at].wake_ns = now_ns + 33,
            made.awaits[at].resume_ns = now_ns + 33;
        now_ns += 33;
    }
    made.tasks[0].end_ns = now_ns;
    check_viewers(made);
}

}  // namespace
