// SPDX-License-Identifier: Apache-2.0
#include "run_end.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "output.hpp"

namespace coroscope::tools {
namespace {

constexpr std::size_t most_sites = 5;
constexpr std::size_t most_lines = 8;          // lines for open scopes
constexpr std::size_t most_scopes_a_line = 6;  // the innermost ones

const char* state_name(analysis::task_state state) {
    switch (state) {
        case analysis::task_state::spawned: return "spawned";
        case analysis::task_state::running: return "running";
        case analysis::task_state::suspended: return "suspended";
        case analysis::task_state::queued: return "queued";
        default: return nullptr;  // it ended, or its state is unknown
    }
}

std::string site_name(const analysis::trace& loaded, std::uint32_t site) {
    if (site >= loaded.sites.size()) return "unknown";
    const analysis::site_info& where = loaded.sites[site];
    const std::string& name = where.label.empty() ? where.function : where.label;
    return where.file.empty() ? name : fmt::format("{} ({}:{})", name, where.file, where.line);
}

/// The open scopes of one thread or task, in the order of their beginnings.
struct open_stack {
    std::string whose;
    std::vector<const analysis::event*> scopes;
};

/// The owner of a scope: a thread, or the task in whose frame the scope lives. It is an index,
/// because tasks of several traces may have equal ids.
struct owner {
    bool is_task;
    std::uint32_t index;
    auto operator<=>(const owner&) const = default;
};

owner owner_of(const analysis::trace& loaded, const analysis::event& scope) {
    const bool in_frame = (scope.flags & analysis::event_in_frame) != 0;
    const bool is_task = in_frame && scope.task < loaded.tasks.size();
    return {is_task, is_task ? scope.task : scope.thread};
}

std::string name_of(const analysis::trace& loaded, const owner& whose,
                    const trace_of_task& trace_of) {
    if (whose.is_task) {
        const std::string path = trace_of ? trace_of(whose.index) : std::string();
        return fmt::format("task {}{}{}", loaded.tasks[whose.index].id, path.empty() ? "" : " of ",
                           path);
    }
    if (whose.index >= loaded.threads.size()) return "a thread";
    const analysis::thread_info& thread = loaded.threads[whose.index];
    return fmt::format("thread {} {}", thread.os_id, thread.name);
}

std::vector<open_stack> open_stacks(const analysis::trace& loaded, const trace_of_task& trace_of) {
    std::vector<open_stack> stacks;
    std::map<owner, std::size_t> places;
    for (const analysis::event& each : loaded.events) {
        if ((each.flags & analysis::event_open) == 0 || each.site == analysis::none) continue;
        const auto [place, is_new] = places.try_emplace(owner_of(loaded, each), stacks.size());
        if (is_new) stacks.push_back({name_of(loaded, place->first, trace_of), {}});
        stacks[place->second].scopes.push_back(&each);
    }
    return stacks;
}

std::string line_of(const analysis::trace& loaded, const open_stack& stack) {
    std::string text = "  " + stack.whose;
    for (std::size_t at = 0; at < std::min(stack.scopes.size(), most_scopes_a_line); ++at) {
        const analysis::event& scope = *stack.scopes[stack.scopes.size() - 1 - at];
        text += fmt::format("{} {} for {}{}", at == 0 ? ":" : ", in", site_name(loaded, scope.site),
                            loaded.health.finished ? "" : "at least ",
                            analysis::format_span(scope.end_ns - scope.start_ns));
    }
    if (stack.scopes.size() > most_scopes_a_line)
        text += fmt::format(", in {} more", stack.scopes.size() - most_scopes_a_line);
    return one_line(text) + '\n';
}

}  // namespace

std::string open_scopes(const analysis::trace& loaded, const trace_of_task& trace_of) {
    const std::vector<open_stack> stacks = open_stacks(loaded, trace_of);
    if (stacks.empty()) return {};
    std::string text = fmt::format("Scopes that had not ended: {}\n", loaded.health.open_scopes);
    for (std::size_t at = 0; at < std::min(stacks.size(), most_lines); ++at)
        text += line_of(loaded, stacks[at]);
    if (stacks.size() > most_lines)
        text +=
            fmt::format("  and scopes of {} more threads and tasks\n", stacks.size() - most_lines);
    return text;
}

std::string signal_line(const std::string& program, int signal) {
    return fmt::format("{} was ended by signal {} ({})", program, signal, ::strsignal(signal));
}

std::string open_work(const analysis::trace& loaded) {
    std::map<std::pair<std::string, std::string>, std::size_t> counts;  // by site and state
    std::size_t all = 0;
    for (const analysis::task_info& task : loaded.tasks) {
        const char* const state = state_name(task.state);
        if (state == nullptr) continue;
        ++all;
        ++counts[{site_name(loaded, task.spawn_site), state}];
    }
    std::vector<std::pair<std::size_t, std::string>> lines;
    for (const auto& [what, count] : counts)
        lines.emplace_back(count, fmt::format("  {} {} {}\n", count, what.second, what.first));
    std::ranges::stable_sort(
        lines, [](const auto& one, const auto& other) { return one.first > other.first; });
    std::string text = fmt::format("Tasks that had not ended: {}\n", all);
    for (std::size_t at = 0; at < std::min(lines.size(), most_sites); ++at)
        text += lines[at].second;
    if (lines.size() > most_sites)
        text += fmt::format("  and tasks of {} more sites or states\n", lines.size() - most_sites);
    return text;
}

}  // namespace coroscope::tools
