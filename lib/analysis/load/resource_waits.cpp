// SPDX-License-Identifier: Apache-2.0
#include "resource_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

#include "../model/task_slices.hpp"
#include "../text/warnings.hpp"
#include "devices/device_scopes.hpp"
#include <coroscope/trace/format.hpp>

namespace coroscope::analysis {
namespace {

std::uint32_t thread_of(std::uint64_t mark, const metadata& names) {
    const std::uint32_t id = coroscope::trace::mark_thread(mark);
    return id == 0 || id == coroscope::trace::mark_thread_unknown ? none : names.known_thread(id);
}

std::uint32_t task_of(std::uint64_t mark, const task_records& records) {
    return records.find_task(coroscope::trace::mark_task(mark));
}

// The thread on which the holder ran when the wait began. Returns none if the holder's task was
// suspended then.
std::uint32_t running_thread(const trace& loaded, const resource_wait& wait) {
    if (wait.holder_task >= loaded.tasks.size()) return wait.holder_thread;
    const std::optional<slice> latest = latest_slice(loaded, wait.holder_task, wait.start_ns);
    return latest && latest->end_ns >= wait.start_ns ? latest->thread : none;
}

using resource_number = std::pair<std::uint32_t, std::uint32_t>;

// Returns the resources, by site and instance, whose elements went from task to task.
std::set<resource_number> handed_on_resources(const trace& loaded, const task_records& records) {
    std::set<resource_number> found;
    for (std::size_t at = 0; at < loaded.resource_waits.size(); ++at)
        if (records.resources.marks[at].handed_on)
            found.emplace(loaded.resource_waits[at].site, loaded.resource_waits[at].instance);
    return found;
}

// A release by a task that held the resource says nothing if others release it, too: the task may
// have returned their element.
void forget_holder(resource_wait& wait) {
    wait.holder_known = false;
    wait.holder_task = wait.holder_thread = none;
    wait.releaser_task = wait.releaser_thread = none;
    wait.released_ns = {};
}

}  // namespace

void loading::link_resource_waits(const task_records& records, const metadata& names,
                                  trace& loaded) {
    std::vector<resource_wait>& waits = loaded.resource_waits;
    const std::set<resource_number> handed_on = handed_on_resources(loaded, records);
    for (std::size_t at = 0; at < waits.size(); ++at) {
        const resource_marks& marks = records.resources.marks[at];
        waits[at].task = task_of(marks.waiter, records);
        waits[at].holder_known = marks.holder != 0;
        waits[at].holder_task = task_of(marks.holder, records);
        waits[at].holder_thread = thread_of(marks.holder, names);
        waits[at].releaser_task = task_of(marks.releaser, records);
        waits[at].releaser_thread = thread_of(marks.releaser, names);
        if (handed_on.contains({waits[at].site, waits[at].instance})) forget_holder(waits[at]);
    }
    std::ranges::stable_sort(waits, {}, [](const resource_wait& wait) {
        return std::tuple(wait.start_ns, wait.end_ns, wait.thread);
    });
    if (!waits.empty()) {
        open_scopes scopes(loaded);
        for (resource_wait& each : waits)
            if (each.holder_known)
                each.holder_scope =
                    scopes.innermost(running_thread(loaded, each), each.holder_task, each.start_ns);
    }
    warn(loaded.health.warnings, "malformed waits for resources, left out",
         records.resources.malformed);
}

}  // namespace coroscope::analysis
