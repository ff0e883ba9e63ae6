// SPDX-License-Identifier: Apache-2.0
#pragma once

// Traces of a service whose requests are tasks on thread 1 and are woken by thread 2.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <coroscope/analysis/findings.hpp>
#include <doctest/doctest.h>

#include "../../support/trace_builder.hpp"
#include "../path/loaded_trace.hpp"

namespace coroscope::test {

inline constexpr std::int64_t us = 1'000;
inline constexpr std::int64_t ms = 1'000'000;

class checked_service {
public:
    /// The time of the next record.
    std::int64_t now = ms;
    trace_builder built;

    checked_service()
        : type(built.site("GET /item", "server.cpp", 3, trace::site_kind::request)),
          coroutine(built.site("serve", "server.cpp", 2, trace::site_kind::coroutine)) {}

    std::uint32_t await_named(std::string_view label) {
        return built.site(label, "store.cpp", 7, trace::site_kind::await);
    }

    /// A request, which runs on thread 1.
    std::uint64_t begin() {
        start_ = now;
        return begin_at(now);
    }

    std::uint64_t begin_at(std::int64_t at) {
        built.on(1).spawn(at, ++task_, coroutine, trace::spawn_started);
        return task_;
    }

    /// The current request waits. Thread 2 wakes it.
    void wait(std::uint32_t site, std::int64_t time_ns,
              trace::await_outcome outcome = trace::await_outcome::unknown) {
        built.on(1).suspend(now, task_, site);
        now += time_ns;
        built.on(2).wake(now, task_, 0, 2);
        built.on(1).resume(now, task_, 0, trace::make_outcome(outcome));
        now += us;
    }

    /// The current request waits for a timer.
    void delay(std::uint32_t site, std::int64_t time_ns) {
        built.on(1).suspend(now, task_, site);
        now += time_ns;
        expire(1, now, task_);
        built.on(1).resume(now, task_);
        now += us;
    }

    /// A timer of a task expires. The thread resumes the task next.
    void expire(std::uint32_t thread, std::int64_t at, std::uint64_t task) {
        built.on(thread).raw(static_cast<std::uint64_t>(built.header.start.monotonic_ns + at),
                             trace::make_tag(trace::record_kind::wake, 0, trace::wake_timer),
                             {task, 0});
    }

    void end() {
        end_at(task_, start_, now);
        now += ms;
    }

    void end_at(std::uint64_t task, std::int64_t start, std::int64_t end) {
        built.on(1).long_scope(type, start, end, trace::scope_in_frame | trace::scope_exact, task);
        built.on(1).finish(end, task);
    }

    /// The trace counts as one of all threads.
    [[nodiscard]] analysis::trace trace() {
        built.lasts(now);
        analysis::trace made = loaded(built);
        made.all_threads = true;
        return made;
    }

    std::uint32_t type;
    std::uint32_t coroutine;

private:
    std::uint64_t task_ = 0;
    std::int64_t start_ = 0;
};

/// The finding of that rule, or null.
inline const analysis::finding* finding_of(const analysis::findings& in, std::string_view rule) {
    for (const analysis::finding& each : in.found)
        if (each.rule->id == rule) return &each;
    return nullptr;
}

/// The only finding, which must be of that rule.
inline analysis::finding only_finding(const analysis::findings& in, std::string_view rule) {
    REQUIRE(in.found.size() == 1);
    CHECK(in.found.front().rule->id == rule);
    return in.found.front();
}

inline bool could_not_run(const analysis::findings& in, std::string_view rule) {
    for (const analysis::rule_not_run& each : in.not_run)
        if (each.rule->id == rule) return true;
    return false;
}

/// The recorder looked at each run on thread 1, in its middle, and saw this system call.
inline void look_at_runs(analysis::trace& from, std::uint32_t call) {
    for (const analysis::slice run : from.slices) {
        if (run.thread != 0) continue;
        analysis::blocked_look look;
        look.time_ns = (run.start_ns + run.end_ns) / 2;
        look.thread = 0;
        look.call = call;
        from.states.looks.push_back(look);
    }
    std::ranges::sort(from.states.looks, {}, &analysis::blocked_look::time_ns);
}

}  // namespace coroscope::test
