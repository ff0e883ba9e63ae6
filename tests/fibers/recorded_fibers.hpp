// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the tests of coroscope::fiber.

#include <coroscope/integration/boost_context.hpp>

#include <chrono>
#include <cstddef>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"

namespace coroscope::test {

inline void nap() { spin(std::chrono::microseconds(200)); }

inline analysis::task_info fiber_at(const recorded& found, std::size_t which = 0) {
    for (const auto& task : found.trace.tasks) {
        if (task.fiber && which-- == 0) return task;
    }
    FAIL("there is no such fiber");
    return found.trace.tasks.front();
}

struct says_when_gone {
    explicit says_when_gone(int& count) : gone(&count) {}
    says_when_gone(const says_when_gone&) = delete;
    says_when_gone& operator=(const says_when_gone&) = delete;
    ~says_when_gone() {
        COROSCOPE("in a destructor");
        ++*gone;
    }
    int* gone;
};

}  // namespace coroscope::test
