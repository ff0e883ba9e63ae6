// SPDX-License-Identifier: Apache-2.0
#include "cut_tasks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "divided_time.hpp"

namespace coroscope::analysis::inline part {
namespace {

constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

std::int64_t begin_of(const trace& whole, const task_info& task) {
    if (task.older_than_session) return ever;
    std::int64_t first_ns = for_ever;
    for (const optional_ns& each : {task.spawn_ns, task.first_wake_ns})
        if (each) first_ns = std::min(first_ns, *each);
    if (!task.slices.empty())
        first_ns = std::min(first_ns, whole.slices[task.slices.front()].start_ns);
    if (!task.awaits.empty())
        first_ns = std::min(first_ns, whole.awaits[task.awaits.front()].suspend_ns);
    return first_ns == for_ever ? ever : first_ns;
}

std::int64_t end_of(const trace& whole, const task_info& task, const await_info& await) {
    return await.resume_ns.value_or(
        task.end_ns.value_or(std::max(whole.duration_ns, await.suspend_ns)));
}

bool crosses_wall_time(const trace& whole, const task_info& task, const stretch& to) {
    return task.first_wake_ns &&
           to.cuts(*task.first_wake_ns, task.end_ns.value_or(whole.duration_ns));
}

/// The state of a task that ended after the stretch, at its end.
task_state state_at_end(const trace& whole, const task_info& task, const stretch& to) {
    for (std::size_t at = task.slices.size(); at-- > 0;) {
        const slice run = whole.slices[task.slices[at]];
        if (run.start_ns >= to.to_ns) continue;
        if (run.end_ns >= to.to_ns) return task_state::running;
        break;
    }
    for (std::size_t at = task.awaits.size(); at-- > 0;) {
        const await_info await = whole.awaits[task.awaits[at]];
        if (await.suspend_ns >= to.to_ns) continue;
        if (await.resume_ns && *await.resume_ns < to.to_ns) break;
        const bool is_ready = await.wake_ns && *await.wake_ns < to.to_ns;
        return is_ready ? task_state::queued : task_state::suspended;
    }
    const bool has_run =
        !task.slices.empty() && whole.slices[task.slices.front()].start_ns < to.to_ns;
    if (has_run || task.losses) return task_state::unknown;
    const bool is_ready = task.first_wake_ns && *task.first_wake_ns < to.to_ns;
    return is_ready ? task_state::queued : task_state::spawned;
}

task_info cut_task(const trace& whole, task_info task, const stretch& to) {
    const std::int64_t end_ns = task.end_ns.value_or(whole.duration_ns);
    if (crosses_wall_time(whole, task, to)) {
        const std::int64_t first_ns = std::max(*task.first_wake_ns, to.from_ns);
        const std::int64_t last_ns = std::min(end_ns, to.to_ns);
        task.time =
            last_ns > first_ns ? divided_time(whole, task, first_ns, last_ns) : time_split();
    }
    const bool lives_on = task.end_ns
                              ? *task.end_ns > to.to_ns || (*task.end_ns == to.to_ns && !to.has_end)
                              : !to.has_end;
    if (lives_on) task.state = state_at_end(whole, task, to);
    if (lives_on) task.end_ns.reset();
    if (begin_of(whole, task) < to.from_ns) task.older_than_session = true;
    if (task.spawn_ns && *task.spawn_ns < to.from_ns) task.spawn_ns.reset();
    if (task.first_wake_ns && *task.first_wake_ns < to.from_ns) task.spawn_to_wake_ns.reset();
    if (!task.spawn_ns) task.spawn_to_wake_ns.reset();
    if (task.first_wake_ns && *task.first_wake_ns >= to.to_ns && !to.has_end) {
        task.first_wake_ns.reset();
        task.spawn_to_wake_ns.reset();
    }
    for (optional_ns* each : {&task.spawn_ns, &task.first_wake_ns, &task.end_ns})
        *each = to.moved(*each);
    return task;
}

/// A wake after the stretch proves that the task was suspended up to its end.
await_info cut_await(const trace& whole, await_info await, const stretch& to) {
    const std::int64_t end_ns = end_of(whole, std::as_const(whole).tasks[await.task], await);
    if (to.cuts(await.suspend_ns, end_ns)) await.clipped = true;
    if (await.wake_ns && to.ends_after(*await.wake_ns)) {
        await.waker = await.waker_thread = none;
        await.reason = wake_reason::unknown;
    }
    if (await.resume_ns && to.ends_after(*await.resume_ns)) {
        await.resume_ns.reset();
        await.outcome = coroscope::trace::await_outcome::unknown;
        await.resume_overdue = false;
        if (!await.wake_ns) await.waker = await.waker_thread = none;
    }
    to.move(await.suspend_ns);
    await.wake_ns = to.moved(await.wake_ns);
    await.resume_ns = to.moved(await.resume_ns);
    return await;
}

}  // namespace

void keep_tasks_in(const trace& whole, const stretch& to, kept_rows& kept) {
    for (std::uint32_t at = 0; at < whole.tasks.size(); ++at) {
        const task_info task = whole.tasks[at];
        if (to.touches(begin_of(whole, task), task.end_ns.value_or(for_ever)))
            kept.tasks[at] = true;
    }
    for (std::uint32_t at = 0; at < whole.slices.size(); ++at) {
        const slice run = whole.slices[at];
        if (!to.touches(run.start_ns, run.end_ns)) continue;
        kept.slices[at] = true;
        kept.keep_task(run.task);
    }
    for (std::uint32_t at = 0; at < whole.awaits.size(); ++at) {
        const await_info await = whole.awaits[at];
        if (await.task >= whole.tasks.size()) continue;
        if (!to.touches(await.suspend_ns, end_of(whole, whole.tasks[await.task], await))) continue;
        kept.awaits[at] = true;
        kept.keep_task(await.task);
    }
}

std::uint64_t cut_tasks(trace& whole, const stretch& to, const kept_rows& kept) {
    const trace& read = whole;
    std::uint64_t crossing = 0;
    packed_list<task_info> tasks;
    for (std::uint32_t at = 0; at < kept.tasks.size(); ++at) {
        const task_info task = read.tasks[at];
        if (kept.tasks[at] && crosses_wall_time(read, task, to)) ++crossing;
        tasks.append(kept.tasks[at] ? cut_task(read, task, to) : task);
    }
    whole.awaits.update([&](await_info& each, std::size_t at) {
        if (kept.awaits[at]) each = cut_await(read, each, to);
        return kept.awaits[at];
    });
    whole.slices.update([&](slice& each, std::size_t at) {
        to.move(each.start_ns);
        to.move(each.end_ns);
        return kept.slices[at];
    });
    whole.tasks = std::move(tasks);
    return crossing;
}

}  // namespace coroscope::analysis::inline part
