// SPDX-License-Identifier: Apache-2.0

// The tables of the states of threads, and of the queues and the busy threads of executors.

#include "timeline_tables.hpp"

#include <array>
#include <map>

#include "../answer/time_spans.hpp"
#include "../executors/executor_runs.hpp"

namespace coroscope::analysis::inline pages {
namespace {

struct state_row {
    std::uint32_t thread;
    state_stretch stretch;
};

/// Returns the stretches of all threads in the shown time, without those of an unknown state.
std::vector<state_row> state_rows(const page_input& input) {
    std::vector<state_row> rows;
    const trace& from = input.from;
    for (std::uint32_t thread = 0; thread < from.states.histories.size(); ++thread)
        for (const state_stretch& each : from.states.stretches(thread, 0, from.duration_ns))
            if (each.state != thread_state::unknown &&
                input.shown.shows(each.start_ns, each.end_ns))
                rows.push_back({thread, each});
    return rows;
}

void write_states(const page_input& input, table_target to) {
    const std::vector<state_row> rows = state_rows(input);
    to.tables.begin("states", rows.size());
    to.tables.column({"thread", column_coding::delta, "threads"},
                     [&](std::size_t row) { return rows[row].thread; });
    to.tables.column({"start_ns", column_coding::delta},
                     [&](std::size_t row) { return rows[row].stretch.start_ns; });
    to.tables.column({"length_ns"}, [&](std::size_t row) {
        return rows[row].stretch.end_ns - rows[row].stretch.start_ns;
    });
    to.tables.column({"state", column_coding::byte, "thread_states"}, [&](std::size_t row) {
        return static_cast<std::int64_t>(rows[row].stretch.state);
    });
    to.tables.end();
}

/// A number that lasts until the next step.
struct executor_step {
    std::uint32_t executor;
    std::int64_t time_ns;
    std::uint64_t number;
};

/// Of very many steps, keeps the highest number of each of equal parts of the session, and the last
/// number of a part. The steps of all executors together then fit into a table.
std::vector<queue_step> thinned(const std::vector<queue_step>& steps, std::int64_t part_ns) {
    if (part_ns == 0) return steps;
    std::vector<queue_step> kept;
    for (std::size_t first = 0; first < steps.size();) {
        std::size_t end = first, highest = first;
        for (; end < steps.size() && steps[end].time_ns / part_ns == steps[first].time_ns / part_ns;
             ++end)
            if (steps[end].length > steps[highest].length) highest = end;
        kept.push_back(steps[highest]);
        if (highest != end - 1) kept.push_back(steps[end - 1]);
        first = end;
    }
    return kept;
}

void write_steps(const std::vector<std::vector<queue_step>>& of_executors, std::string_view table,
                 std::string_view column, const trace& from, table_target to) {
    std::vector<executor_step> rows;
    const std::int64_t part_ns = part_of_steps(of_executors, from.duration_ns);
    for (std::uint32_t executor = 0; executor < of_executors.size(); ++executor)
        for (const queue_step& each : thinned(of_executors[executor], part_ns))
            rows.push_back({executor, each.time_ns, each.length});
    to.tables.begin(table, rows.size());
    to.tables.column({"executor", column_coding::delta, "executors"},
                     [&](std::size_t row) { return rows[row].executor; });
    to.tables.column({"time_ns", column_coding::delta},
                     [&](std::size_t row) { return rows[row].time_ns; });
    to.tables.column({column}, [&](std::size_t row) { return rows[row].number; });
    to.tables.end();
}

/// Returns the number of threads that run jobs of each executor, from a moment on.
std::vector<std::vector<queue_step>> busy_threads(const trace& from) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, time_spans> busy;
    for (const executor_run& run : find_executor_runs(from))
        if (run.executor < from.executors.size())
            append_span(busy[{run.executor, run.thread}], {run.start_ns, run.end_ns});
    std::vector<std::vector<std::pair<std::int64_t, int>>> edges(from.executors.size());
    for (const auto& [key, spans] : busy)
        for (const time_span& each : spans) {
            edges[key.first].emplace_back(each.from_ns, 1);
            edges[key.first].emplace_back(each.to_ns, -1);
        }
    std::vector<std::vector<queue_step>> steps(from.executors.size());
    for (std::size_t executor = 0; executor < edges.size(); ++executor) {
        std::ranges::sort(edges[executor]);
        std::int64_t number = 0;
        for (const auto& [time_ns, change] : edges[executor]) {
            number += change;
            const auto count = static_cast<std::uint64_t>(number);
            if (!steps[executor].empty() && steps[executor].back().time_ns == time_ns)
                steps[executor].back().length = count;
            else
                steps[executor].push_back({time_ns, count});
        }
    }
    return steps;
}

}  // namespace

std::int64_t part_of_steps(const std::vector<std::vector<queue_step>>& of_executors,
                           std::int64_t duration_ns) {
    constexpr std::size_t most_steps = 150'000;
    constexpr std::int64_t least_parts = 1000;
    std::size_t steps = 0;
    std::int64_t executors = 0;
    for (const auto& each : of_executors) {
        steps += each.size();
        executors += each.empty() ? 0 : 1;
    }
    if (steps <= most_steps) return 0;
    const auto parts = static_cast<std::int64_t>(most_steps) / 2 / executors;
    return std::max<std::int64_t>(1, duration_ns / std::max(parts, least_parts));
}

void write_thread_tables(const page_input& input, table_target to) {
    write_states(input, to);
    write_steps(input.queues, "queues", "length", input.from, to);
    write_steps(busy_threads(input.from), "busy", "count", input.from, to);
}

}  // namespace coroscope::analysis::inline pages
