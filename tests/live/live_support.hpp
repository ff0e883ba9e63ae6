// SPDX-License-Identifier: Apache-2.0
#pragma once

// Live tasks for the length of a test, and stacks as text that a test can compare.

#include <string>
#include <string_view>
#include <vector>

#include <coroscope/async_stack.hpp>

#include <doctest/doctest.h>

namespace coroscope::test {

class tracking {
public:
    tracking() { REQUIRE(track_live_tasks(true)); }
    ~tracking() { track_live_tasks(false); }
    tracking(const tracking&) = delete;
    tracking& operator=(const tracking&) = delete;
};

inline std::string text_of(const async_stack& stack) {
    char text[8192];
    return {text, format(stack, text, sizeof text)};
}

/// The function that spawned the task of a frame, without its namespaces.
inline std::string function_of(const async_frame& frame) {
    const std::string_view label = frame.spawn.label;
    return std::string(label.substr(label.rfind(':') + 1));
}
inline std::vector<std::string> functions_of(const async_stack& stack) {
    std::vector<std::string> names;
    for (const async_frame& each : stack) names.push_back(function_of(each));
    return names;
}

}  // namespace coroscope::test
