// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records a program on all threads, and finds items in its trace.

#include <algorithm>
#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include <coroscope/analysis/analysis.hpp>
#include <coroscope/coroscope.hpp>

#include "../support/nearly.hpp"

namespace analysis = coroscope::analysis;
using coroscope::test::nearly;
using namespace std::chrono_literals;

constexpr std::int64_t ms = 1'000'000;

inline void busy(std::chrono::milliseconds length) {
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {
    }
}

template <class Program>
analysis::trace record(const Program& program) {
    coroscope::profile session({.all_threads = true});
    program();
    auto loaded = analysis::load(session.stop());
    REQUIRE(loaded);
    return std::move(*loaded);
}

inline std::string spawn_label(const analysis::trace& loaded, const analysis::task_info& task) {
    return task.spawn_site == analysis::none ? "" : loaded.sites[task.spawn_site].label;
}

/// `label` is the label with or without the function's template arguments.
inline bool is_labelled(const analysis::trace& loaded, const analysis::task_info& task,
                        const std::string& label) {
    const std::string full = spawn_label(loaded, task);
    return full == label || full.substr(0, full.find('<')) == label;
}

inline analysis::task_info task_named(const analysis::trace& loaded, const std::string& label) {
    const auto found =
        std::find_if(loaded.tasks.begin(), loaded.tasks.end(),
                     [&](const auto& task) { return is_labelled(loaded, task, label); });
    REQUIRE_MESSAGE(found != loaded.tasks.end(), "no task ", label);
    return *found;
}

inline std::ptrdiff_t count_tasks(const analysis::trace& loaded, const std::string& label) {
    return std::count_if(loaded.tasks.begin(), loaded.tasks.end(),
                         [&](const auto& task) { return is_labelled(loaded, task, label); });
}

inline const analysis::event& scope_named(const analysis::trace& loaded, const std::string& name) {
    const auto found =
        std::find_if(loaded.events.begin(), loaded.events.end(),
                     [&](const auto& scope) { return loaded.strings[scope.name] == name; });
    REQUIRE_MESSAGE(found != loaded.events.end(), "no scope ", name);
    return *found;
}

/// The task of a scope.
inline analysis::task_info owner_of(const analysis::trace& loaded, const std::string& name) {
    const analysis::event& scope = scope_named(loaded, name);
    REQUIRE_MESSAGE(scope.task != analysis::none, name, " belongs to no task");
    return loaded.tasks[scope.task];
}

inline void check_all_add_up(const analysis::trace& loaded) {
    CHECK_FALSE(loaded.health.lost_records());
    for (const analysis::task_info& task : loaded.tasks) {
        CHECK_FALSE(task.losses);
        if (task.first_wake_ns && task.end_ns)
            CHECK(task.time.wall_ns() == *task.end_ns - *task.first_wake_ns);
    }
}
