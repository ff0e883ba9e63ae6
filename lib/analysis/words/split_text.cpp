// SPDX-License-Identifier: Apache-2.0
#include "split_text.hpp"

#include <string_view>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

namespace coroscope::analysis::inline words {

std::string split_text(std::int64_t wall_ns, const time_split& time) {
    return split_text(wall_ns, time, {});
}

std::string split_text(std::int64_t wall_ns, const time_split& time, const state_times& states) {
    std::string text = format_span(wall_ns);
    const char* before = " = ";
    const auto add = [&](std::int64_t part_ns, std::string_view name) {
        text += fmt::format("{}{} {}", before, format_span(part_ns, wall_ns), name);
        before = " + ";
    };
    if (states.known_ns() == 0) {
        add(time.running_ns, "running");
    } else {
        add(states.on_cpu_ns, "on-CPU");
        if (states.blocked_ns != 0) add(states.blocked_ns, "blocked");
        if (states.preempted_ns != 0) add(states.preempted_ns, "preempted");
        if (states.unknown_ns != 0) add(states.unknown_ns, "running in an unknown state");
    }
    const bool all_seen = time.waiting_ns == 0;
    if (all_seen || time.suspended_ns != 0) add(time.suspended_ns, "suspended");
    if (all_seen || time.queued_ns != 0) add(time.queued_ns, "queued");
    add(time.waiting_ns, "waiting");
    return text;
}

std::string unknown_split_text(std::int64_t wall_ns) {
    return format_span(wall_ns) + ", of which the parts are unknown";
}

}  // namespace coroscope::analysis::inline words
