// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/analysis/expect.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../executors/executor_runs.hpp"
#include "../text/utf8.hpp"
#include "../words/places.hpp"

namespace coroscope::analysis {
namespace {

bool is_asked_for(const trace& loaded, std::uint32_t executor, std::string_view asked) {
    return name_of_executor(loaded, executor) == asked ||
           (loaded.executors[executor].name.empty() &&
            name_of_kind(loaded.executors[executor].kind) == asked);
}

/// "io_context 1, resizing".
std::string names_of_executors(const trace& loaded) {
    std::set<std::string> names;
    for (std::uint32_t at = 0; at < loaded.executors.size(); ++at)
        names.insert(printable(name_of_executor(loaded, at)));
    std::string text;
    for (const std::string& each : names) text += (text.empty() ? "" : ", ") + each;
    return text.empty() ? "none" : text;
}

/// The time for which the run held its thread.
std::int64_t held_ns(const trace& loaded, const executor_run& run) {
    const std::int64_t length_ns = run.end_ns - run.start_ns;
    if (!loaded.states.any()) return length_ns;
    return length_ns - loaded.states.between(run.thread, run.start_ns, run.end_ns).preempted_ns;
}

bool may_overlap(const event& scope, const executor_run& run) {
    return scope.start_ns < run.end_ns && scope.end_ns > run.start_ns &&
           (scope.task == run.task || (scope.thread == run.thread && scope.detail == none));
}

/// The scope with the longest own time in the run, as "in thumbnail at image.cpp:40"; else the
/// task.
std::string place_in_run(const trace& loaded, const executor_run& run) {
    std::unordered_map<std::uint32_t, std::int64_t> own_ns;  // by event
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at) {
        const event& each = loaded.events[at];
        if (!may_overlap(each, run)) continue;
        const std::int64_t overlap_ns =
            std::min(each.end_ns, run.end_ns) - std::max(each.start_ns, run.start_ns);
        own_ns[at] += overlap_ns;
        if (each.parent < at) own_ns[each.parent] -= overlap_ns;
    }
    const auto longest =
        std::ranges::max_element(own_ns, {}, [](const auto& each) { return each.second; });
    const bool has_scope = longest != own_ns.end() && longest->second > 0;
    const std::uint32_t site =
        has_scope ? loaded.events[longest->first].site : loaded.tasks[run.task].spawn_site;
    const std::string name =
        has_scope ? loaded.strings[loaded.events[longest->first].name] : site_name(loaded, site);
    const std::string place = site_place(loaded, site);
    return fmt::format("in {}{}", printable(name),
                       place.empty() ? std::string() : " at " + printable(place));
}

std::string blocking_message(const trace& loaded, std::string_view executor,
                             const executor_run& longest, std::int64_t limit_ns,
                             std::size_t further) {
    return fmt::format(
        "a job held a thread of {} for {} (limit {}{}) {}, {} after the start{}; move this work to "
        "another pool, or divide it",
        printable(executor), format_span(held_ns(loaded, longest)), format_span(limit_ns),
        loaded.states.any() ? "" : "; time without a processor may be included",
        place_in_run(loaded, longest), format_span(longest.start_ns),
        further == 0 ? std::string() : fmt::format(" ({} more such jobs)", further));
}

}  // namespace

expectation expect_no_blocking(const recorded_block& recorded, std::string_view executor,
                               std::chrono::nanoseconds limit) {
    if (!recorded.doubt().empty()) return {false, recorded.doubt()};
    const trace& loaded = recorded.loaded();
    const executor_run* longest = nullptr;
    std::size_t runs = 0, too_long = 0;
    const std::vector<executor_run> all = find_executor_runs(loaded);
    for (const executor_run& each : all) {
        if (each.executor >= loaded.executors.size() ||
            !is_asked_for(loaded, each.executor, executor))
            continue;
        ++runs;
        if (held_ns(loaded, each) > limit.count()) ++too_long;
        if (longest == nullptr || held_ns(loaded, each) > held_ns(loaded, *longest))
            longest = &each;
    }
    if (runs == 0)
        return {false, fmt::format("no job of an executor {} was recorded; the recorded executors: "
                                   "{}",
                                   printable(executor), names_of_executors(loaded))};
    if (too_long == 0) return {true, {}};
    return {false, blocking_message(loaded, executor, *longest, limit.count(), too_long - 1)};
}

}  // namespace coroscope::analysis
