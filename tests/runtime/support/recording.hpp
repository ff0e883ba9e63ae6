// SPDX-License-Identifier: Apache-2.0
#pragma once

// A session in memory and its analysed trace: the tests write with the runtime and read with the
// analysis.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/coroscope.hpp>

#include <doctest/doctest.h>

#include "../../support/nearly.hpp"

namespace coroscope::test {

/// A loaded trace with finders that fail the test unless they find exactly one item.
class recorded {
public:
    explicit recorded(analysis::trace loaded) : trace(std::move(loaded)) {}

    std::vector<const analysis::event*> events(std::string_view name) const {
        std::vector<const analysis::event*> found;
        for (const analysis::event& each : trace.events) {
            if (trace.strings[each.name] == name) found.push_back(&each);
        }
        return found;
    }
    const analysis::event& event(std::string_view name) const {
        const auto found = events(name);
        INFO("event ", std::string(name));
        REQUIRE(found.size() == 1);
        return *found.front();
    }
    std::size_t count(std::string_view name) const { return events(name).size(); }

    /// Tasks, but no jobs, whose spawn site names this function, in the order of their ids.
    std::vector<std::uint32_t> tasks(std::string_view function) const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t index = 0; index < trace.tasks.size(); ++index) {
            const analysis::task_info& task = trace.tasks[index];
            if (!task.job && names(site_label(task.spawn_site), function)) found.push_back(index);
        }
        std::sort(found.begin(), found.end(), [this](std::uint32_t left, std::uint32_t right) {
            return trace.tasks[left].id < trace.tasks[right].id;
        });
        return found;
    }
    std::uint32_t task_index(std::string_view function) const {
        const auto found = tasks(function);
        INFO("task ", std::string(function));
        REQUIRE(found.size() == 1);
        return found.front();
    }
    analysis::task_info task(std::string_view function) const {
        return trace.tasks[task_index(function)];
    }

    std::vector<analysis::await_info> awaits(const analysis::task_info& task) const {
        std::vector<analysis::await_info> found;
        for (const std::uint32_t index : task.awaits) found.push_back(trace.awaits[index]);
        return found;
    }

    analysis::time_split split(const analysis::event& of) const {
        if (of.detail != analysis::none) return trace.details[of.detail].time;
        return {of.end_ns - of.start_ns, 0, 0, 0};
    }
    std::uint32_t end_thread(const analysis::event& of) const {
        return of.detail != analysis::none ? trace.details[of.detail].end_thread : of.thread;
    }
    std::string arguments(const analysis::event& of) const {
        if (of.detail == analysis::none) return "";
        const std::uint32_t text = trace.details[of.detail].arguments;
        return text == analysis::none ? "" : trace.strings[text];
    }
    const std::string& site_label(std::uint32_t site) const {
        static const std::string empty;
        return site == analysis::none ? empty : trace.sites[site].label;
    }
    std::uint32_t site_line(std::uint32_t site) const {
        return site == analysis::none ? 0 : trace.sites[site].line;
    }

    analysis::trace trace;

private:
    // "ns::f", "f<int>" and "f" are named by "f"; "deaf" is not.
    static bool names(std::string_view label, std::string_view function) {
        if (label.ends_with('>') && !function.ends_with('>'))
            label = label.substr(0, label.find('<'));
        if (!label.ends_with(function)) return false;
        const std::size_t before = label.size() - function.size();
        return before == 0 || label[before - 1] == ':';
    }
};

inline recorded load(const trace::buffer& bytes) {
    auto loaded = analysis::load(bytes);
    REQUIRE(loaded);
    for (const std::string& warning : loaded->health.warnings) FAIL_CHECK(warning);
    CHECK_FALSE(loaded->health.lost_records());
    return recorded(std::move(*loaded));
}

/// A session with the given options; by default it records all threads.
class recording {
public:
    explicit recording(const profile_options& options = {.all_threads = true}) : session_(options) {
        REQUIRE(session_.status().state == session_state::recording);
    }
    recorded stop() { return load(session_.stop()); }

private:
    profile session_;
};

/// The parts of a task's time add up to its wall.
inline void check_sum(const analysis::task_info& task, std::int64_t session_ns) {
    REQUIRE(task.first_wake_ns);
    CHECK(task.time.running_ns >= 0);
    CHECK(task.time.suspended_ns >= 0);
    CHECK(task.time.queued_ns >= 0);
    CHECK(task.time.waiting_ns >= 0);
    CHECK(task.time.wall_ns() == task.end_ns.value_or(session_ns) - *task.first_wake_ns);
}

/// A recorded duration lies between two that were measured within it and around it.
inline bool lies_between(std::int64_t recorded_ns, std::int64_t inside_ns,
                         std::int64_t outside_ns) {
    return recorded_ns >= nearly(inside_ns) && nearly(recorded_ns) <= outside_ns;
}

}  // namespace coroscope::test
