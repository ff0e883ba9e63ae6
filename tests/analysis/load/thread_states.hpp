// SPDX-License-Identifier: Apache-2.0
#pragma once

// Traces with planned states of threads, and the checks of what was loaded.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "../loading.hpp"

namespace coroscope::test {

namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;
using analysis::state_stretch;
using analysis::state_times;
using analysis::thread_state;

inline constexpr thread_state unknown = thread_state::unknown;
inline constexpr thread_state on_cpu = thread_state::on_cpu;
inline constexpr thread_state blocked = thread_state::blocked;
inline constexpr thread_state preempted = thread_state::preempted;

/// Thread 1 is there from the session's start to its end, at 1000.
inline trace_builder built_trace() {
    trace_builder built;
    built.lasts(1000);
    built.on(1).scope(built.site("work"), 0, 1000);
    return built;
}

inline std::vector<state_stretch> stretches(const analysis::trace& loaded,
                                            std::uint32_t thread = 0) {
    return loaded.states.stretches(thread, 0, loaded.duration_ns);
}

inline state_times whole(const analysis::trace& loaded, std::uint32_t thread = 0) {
    return loaded.states.between(thread, 0, loaded.duration_ns);
}

inline bool warns_of(const analysis::trace& loaded, std::string_view what) {
    return std::ranges::any_of(loaded.health.warnings, [what](const std::string& each) {
        return each.find(what) != std::string::npos;
    });
}

/// Every division of a time adds up to it, and no part is negative.
inline void check_divisions(const analysis::trace& loaded) {
    for (std::uint32_t thread = 0; thread < loaded.threads.size(); ++thread) {
        for (std::int64_t from = -50; from < loaded.duration_ns + 50; from += 37) {
            for (std::int64_t to = from; to < loaded.duration_ns + 90; to += 41) {
                const state_times times = loaded.states.between(thread, from, to);
                CHECK(times.total_ns() == to - from);
                CHECK(std::min({times.on_cpu_ns, times.blocked_ns, times.preempted_ns,
                                times.unknown_ns}) >= 0);
            }
        }
    }
}

}  // namespace coroscope::test
