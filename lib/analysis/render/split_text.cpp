// SPDX-License-Identifier: Apache-2.0
#include "split_text.hpp"

#include <string_view>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

namespace coroscope::analysis::render {

std::string split_text(std::int64_t wall_ns, const time_split& time) {
    std::string text =
        fmt::format("{} = {} running", format_span(wall_ns), format_span(time.running_ns, wall_ns));
    const auto add = [&](std::int64_t part_ns, std::string_view name) {
        text += fmt::format(" + {} {}", format_span(part_ns, wall_ns), name);
    };
    const bool all_seen = time.waiting_ns == 0;
    if (all_seen || time.suspended_ns != 0) add(time.suspended_ns, "suspended");
    if (all_seen || time.queued_ns != 0) add(time.queued_ns, "queued");
    add(time.waiting_ns, "waiting");
    return text;
}

}  // namespace coroscope::analysis::render
