// SPDX-License-Identifier: Apache-2.0
#pragma once

// Helpers for tests of the analysis: loading a built trace, finding its elements, and checks that
// hold for every trace.

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <map>
#include <string>
#include <string_view>

#include "trace_builder.hpp"
#include <coroscope/analysis/load.hpp>

namespace coroscope::test {

/// The flags of a scope in the frame of an instrumented coroutine.
inline constexpr std::uint32_t exact_in_frame = trace::scope_in_frame | trace::scope_exact;

inline analysis::trace load(const trace::buffer& bytes) {
    auto loaded = analysis::load(bytes);
    REQUIRE_MESSAGE(loaded.has_value(), (loaded ? std::string() : loaded.error().message));
    return *std::move(loaded);
}

inline analysis::trace load(const trace_builder& built) { return load(built.finish()); }

/// The only task with that id.
inline analysis::task_info task(const analysis::trace& loaded, std::uint64_t id) {
    const auto found =
        std::find_if(loaded.tasks.begin(), loaded.tasks.end(),
                     [id](const analysis::task_info& candidate) { return candidate.id == id; });
    REQUIRE(found != loaded.tasks.end());
    return *found;
}

inline std::uint32_t index_of(const analysis::trace& loaded, std::uint64_t id) {
    const auto found = std::ranges::find(loaded.tasks, id, &analysis::task_info::id);
    REQUIRE(found != loaded.tasks.end());
    return static_cast<std::uint32_t>(found - loaded.tasks.begin());
}

/// The first event of that name.
inline const analysis::event& event(const analysis::trace& loaded, std::string_view name) {
    const auto found = std::find_if(
        loaded.events.begin(), loaded.events.end(),
        [&](const analysis::event& candidate) { return loaded.strings[candidate.name] == name; });
    REQUIRE(found != loaded.events.end());
    return *found;
}

inline std::string parent_name(const analysis::trace& loaded, const analysis::event& child) {
    return child.parent == analysis::none ? "" : loaded.strings[loaded.events[child.parent].name];
}

inline analysis::await_info await(const analysis::trace& loaded, const analysis::task_info& of,
                                  std::size_t position) {
    REQUIRE(position < of.awaits.size());
    return loaded.awaits[of.awaits[position]];
}

/// Checks the four parts: running, suspended, queued, waiting.
inline void check_time(const analysis::time_split& time, std::int64_t running,
                       std::int64_t suspended, std::int64_t queued, std::int64_t waiting) {
    CHECK(time.running_ns == running);
    CHECK(time.suspended_ns == suspended);
    CHECK(time.queued_ns == queued);
    CHECK(time.waiting_ns == waiting);
}

/// Whether events are in order and their indices are valid. Holds for every trace.
inline bool events_are_sound(const analysis::trace& loaded) {
    for (std::size_t index = 0; index < loaded.events.size(); ++index) {
        const analysis::event& one = loaded.events[index];
        if (one.end_ns < one.start_ns || one.self_running_ns < 0 || one.start_ns < 0) return false;
        if (one.end_ns > loaded.duration_ns || one.name >= loaded.strings.size()) return false;
        if (one.thread >= loaded.threads.size()) return false;
        if (one.task != analysis::none && one.task >= loaded.tasks.size()) return false;
        if (one.site != analysis::none && one.site >= loaded.sites.size()) return false;
        if (one.parent != analysis::none) {
            if (one.parent >= index) return false;
            const analysis::event& parent = loaded.events[one.parent];
            if (parent.start_ns > one.start_ns || parent.end_ns < one.end_ns) return false;
        }
        if (index > 0 && one.start_ns < loaded.events[index - 1].start_ns) return false;
        if (one.detail == analysis::none) continue;
        const analysis::time_split& time = loaded.details[one.detail].time;
        if (time.wall_ns() != one.end_ns - one.start_ns) return false;
        if (std::min({time.running_ns, time.suspended_ns, time.queued_ns, time.waiting_ns}) < 0)
            return false;
    }
    return true;
}

/// Whether wall = running + suspended + queued + waiting, and none is negative. Holds for every
/// trace.
inline bool tasks_add_up(const analysis::trace& loaded) {
    for (const analysis::task_info& one : loaded.tasks) {
        const analysis::time_split& time = one.time;
        if (std::min({time.running_ns, time.suspended_ns, time.queued_ns, time.waiting_ns}) < 0)
            return false;
        const std::int64_t wall_ns =
            one.first_wake_ns
                ? std::max(*one.first_wake_ns, one.end_ns.value_or(loaded.duration_ns)) -
                      *one.first_wake_ns
                : 0;
        if (time.wall_ns() != wall_ns) return false;
        for (const std::uint32_t index : one.awaits)
            if (index >= loaded.awaits.size() || loaded.awaits[index].task >= loaded.tasks.size())
                return false;
        std::int64_t busy_until_ns = 0;
        for (const std::uint32_t index : one.slices) {
            if (index >= loaded.slices.size() || loaded.slices[index].start_ns < busy_until_ns)
                return false;
            busy_until_ns = loaded.slices[index].end_ns;
        }
    }
    return true;
}

/// Whether the self times add up to at most the wall times of all threads.
inline bool selves_fit(const analysis::trace& loaded) {
    std::int64_t self_ns = 0;
    for (const analysis::event& one : loaded.events) self_ns += one.self_running_ns;
    return self_ns <= loaded.duration_ns * static_cast<std::int64_t>(loaded.threads.size());
}

inline void check_sound(const analysis::trace& loaded) {
    CHECK(events_are_sound(loaded));
    CHECK(tasks_add_up(loaded));
    CHECK(selves_fit(loaded));
}

}  // namespace coroscope::test
