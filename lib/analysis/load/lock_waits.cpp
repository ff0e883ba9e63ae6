// SPDX-License-Identifier: Apache-2.0
#include "lock_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "../text/warnings.hpp"
#include "devices/device_scopes.hpp"
#include "tasks/thread_slices.hpp"
#include "thread_ids.hpp"

namespace coroscope::analysis {
namespace {

/// Finds the thread of each holder by the kernel's id, and the task that ran there.
void find_holders(const thread_ids& ids, trace& loaded) {
    std::vector<bool> holding(loaded.threads.size());
    for (lock_wait& each : loaded.lock_waits) {
        if (each.holder_os_id == 0) continue;
        each.holder.thread = ids.thread_at(each.holder_os_id, each.start_ns);
        if (each.holder.thread != none) holding[each.holder.thread] = true;
    }
    const slices_of_threads slices(loaded, holding);
    for (lock_wait& each : loaded.lock_waits)
        if (each.holder.thread != none)
            each.holder.task = slices.task_at(each.holder.thread, each.start_ns);
}

/// Finds the scopes at the starts, then those at the releases, because open_scopes needs moments in
/// order.
void find_scopes(trace& loaded) {
    open_scopes at_start(loaded);
    for (lock_wait& each : loaded.lock_waits)
        for (thread_work* work : {&each.waiter, &each.holder})
            work->scope = at_start.innermost(work->thread, work->task, each.start_ns);
    std::vector<lock_wait*> released;
    for (lock_wait& each : loaded.lock_waits)
        if (each.released_ns) released.push_back(&each);
    std::ranges::stable_sort(released, {},
                             [](const lock_wait* each) { return *each->released_ns; });
    open_scopes at_release(loaded);
    for (lock_wait* each : released)
        each->releaser.scope =
            at_release.innermost(each->releaser.thread, each->releaser.task, *each->released_ns);
}

}  // namespace

void loading::link_lock_waits(const task_records& records, const metadata& names, clock_map& clock,
                              trace& loaded) {
    std::vector<lock_wait>& waits = loaded.lock_waits;
    warn(loaded.health.warnings, "malformed waits for locks, left out", records.locks.malformed);
    if (waits.empty()) return;
    for (std::size_t at = 0; at < waits.size(); ++at) {
        const lock_marks& marks = records.locks.marks[at];
        const std::uint32_t releaser = coroscope::trace::mark_thread(marks.releaser);
        waits[at].waiter.task = records.find_task(coroscope::trace::mark_task(marks.waiter));
        waits[at].releaser.task = records.find_task(coroscope::trace::mark_task(marks.releaser));
        if (releaser != 0 && releaser != coroscope::trace::mark_thread_unknown)
            waits[at].releaser.thread = names.known_thread(releaser);
    }
    std::ranges::stable_sort(waits, {}, [](const lock_wait& wait) {
        return std::tuple(wait.start_ns, wait.end_ns, wait.waiter.thread);
    });
    find_holders(thread_ids(records, names, clock, loaded), loaded);
    find_scopes(loaded);
}

}  // namespace coroscope::analysis
