// SPDX-License-Identifier: Apache-2.0
#pragma once

// Paths as short texts.

#include <string>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

namespace coroscope::test {

/// Returns the path of the task with that id.
inline analysis::critical_path path_of(const analysis::trace& from, std::uint64_t id) {
    const auto task = analysis::find_task(from, id);
    REQUIRE(task);
    return analysis::critical_path_of_task(from, *task);
}

/// "0-10 running 1", with the task's id; "outside" without a task.
inline std::string text_of(const analysis::trace& from, const analysis::path_segment& segment) {
    return std::to_string(segment.start_ns) + '-' + std::to_string(segment.end_ns) + ' ' +
           std::string(analysis::name_of(segment.kind)) + ' ' +
           (segment.task == analysis::none ? "outside"
                                           : std::to_string(from.tasks[segment.task].id));
}

inline std::vector<std::string> texts_of(const analysis::trace& from,
                                         const analysis::critical_path& path) {
    std::vector<std::string> texts;
    for (const analysis::path_segment& each : path.segments) texts.push_back(text_of(from, each));
    return texts;
}

using texts = std::vector<std::string>;

}  // namespace coroscope::test
