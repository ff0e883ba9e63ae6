// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/await_blame.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "../answer/lock_samples.hpp"
#include "../model/interruptions.hpp"
#include "../model/missing_facts.hpp"
#include "../model/result_waits.hpp"
#include "../model/task_slices.hpp"
#include "held_waits.hpp"
#include "place_numbers.hpp"
#include "queue_sweep.hpp"
#include "scope_timelines.hpp"
#include "thread_occupants.hpp"
#include "work_ahead.hpp"

namespace coroscope::analysis {
namespace {

// The work to which a wait is charged.
struct blamed_work {
    blame_kind kind = blame_kind::unknown;
    std::uint32_t place = 0;
};

class blame_matrix {
public:
    explicit blame_matrix(const trace& loaded)
        : loaded_(loaded),
          places_(loaded),
          nowhere_(places_.nowhere()),
          held_(loaded),
          occupants_(loaded),
          scopes_(loaded) {
        for (std::uint32_t task = 0; task < loaded.tasks.size(); ++task) scopes_.watch(task, none);
        for (std::uint32_t thread = 0; thread < loaded.threads.size(); ++thread)
            scopes_.watch(none, thread);
        scopes_.watch(none, none);
        scopes_.read();
    }

    std::vector<await_blame> take() {
        queued_.reserve(loaded_.awaits.size() + loaded_.tasks.size());
        for (std::uint32_t at = 0; at < loaded_.awaits.size(); ++at) add_await(at);
        for (std::uint32_t at = 0; at < loaded_.tasks.size(); ++at) add_start(at);
        add_queued();
        add_locks(loaded_.lock_waits);
        if (!loaded_.states.looks.empty()) add_locks(sampled_lock_waits(loaded_));
        add_resources();
        return rows();
    }

private:
    struct cell {
        std::int64_t time_ns = 0;
        std::uint64_t count = 0;
    };

    [[nodiscard]] std::int64_t end_of(const await_info& await) const {
        return std::max(await.suspend_ns,
                        await.resume_ns.value_or(
                            loaded_.tasks[await.task].end_ns.value_or(loaded_.duration_ns)));
    }

    void add_await(std::uint32_t index) {
        const await_info& await = loaded_.awaits[index];
        const std::int64_t end_ns = end_of(await);
        const std::uint32_t waiting = places_.of_await(await);
        std::int64_t until_ns = end_ns;
        if (await.wake_ns) {
            until_ns = std::clamp(*await.wake_ns, await.suspend_ns, end_ns);
            queue(await, waiting, until_ns, end_ns);
        }
        if (await.suspend_ns >= until_ns) return;
        const std::int64_t held_ns =
            await.reason == wake_reason::unknown ? add_held(await, waiting, until_ns) : 0;
        const std::int64_t rest_ns = until_ns - await.suspend_ns - held_ns;
        if (await.wake_ns || is_held(loaded_, await))
            add(waiting, work_before_wake(await, index), rest_ns);
        else
            add_unseen(await, waiting, rest_ns, until_ns);
    }

    void queue(const await_info& await, std::uint32_t waiting, std::int64_t from_ns,
               std::int64_t to_ns) {
        if (from_ns >= to_ns) return;
        const std::uint32_t thread =
            await.resume_ns ? thread_after(loaded_, await.task, to_ns) : none;
        queued_.push_back({from_ns, to_ns, await.executor, thread, waiting});
    }

    void add_start(std::uint32_t index) {
        const task_info& task = loaded_.tasks[index];
        if (!task.first_wake_ns || task.slices.empty()) return;
        const slice& first = loaded_.slices[task.slices.front()];
        if (*task.first_wake_ns < first.start_ns)
            queued_.push_back({*task.first_wake_ns, first.start_ns, task.executor,
                               first.thread < loaded_.threads.size() ? first.thread : none,
                               places_.of_task(index)});
    }

    // If the task waited for a resource, charges the await to its holders. Returns the charged
    // time.
    std::int64_t add_held(const await_info& await, std::uint32_t waiting, std::int64_t until_ns) {
        std::int64_t sum_ns = 0;
        while (const auto held = held_.of_task(await.task, await.suspend_ns, until_ns)) {
            const std::int64_t from_ns = std::max(await.suspend_ns, held->start_ns);
            const std::int64_t to_ns = std::min(until_ns, held->until_ns);
            add(waiting, work_at(blame_kind::held, held->task, held->thread, to_ns - 1),
                to_ns - from_ns);
            add_to(sum_ns, to_ns - from_ns);
            until_ns = from_ns;
        }
        return sum_ns;
    }

    blamed_work work_before_wake(const await_info& await, std::uint32_t index) {
        if (await.awaited < loaded_.tasks.size())
            return {blame_kind::awaited, places_.of_task(await.awaited)};
        const std::int64_t wake_ns = await.wake_ns.value_or(loaded_.duration_ns);
        if (await.waker < loaded_.tasks.size())
            return work_at(blame_kind::woke, await.waker, none, wake_ns);
        if (await.reason == wake_reason::timer) return {blame_kind::timer, nowhere_};
        if (!find_device_waits(loaded_, index).empty()) return {blame_kind::device, nowhere_};
        return work_at(blame_kind::woke, none, await.waker_thread, wake_ns);
    }

    // Charges an await whose wake is unknown. The time up to the end of an awaited or joined task
    // is charged to that task. The reason for the time after that is unknown.
    void add_unseen(const await_info& await, std::uint32_t waiting, std::int64_t rest_ns,
                    std::int64_t until_ns) {
        const std::uint32_t child = await.awaited != none ? await.awaited : await.waker;
        std::int64_t child_ns = 0;
        if (child < loaded_.tasks.size()) {
            const optional_ns& end_ns = loaded_.tasks[child].end_ns;
            const bool goes_on = !end_ns && !await.resume_ns && await.awaited != none;
            const std::int64_t to_ns = end_ns.value_or(goes_on ? until_ns : await.suspend_ns);
            if (to_ns <= until_ns)
                child_ns = std::clamp<std::int64_t>(to_ns - await.suspend_ns, 0, rest_ns);
            add(waiting, {blame_kind::awaited, places_.of_task(child)}, child_ns);
        }
        add(waiting, {blame_kind::unknown, nowhere_}, rest_ns - child_ns);
    }

    // Returns the innermost scope of a task, or of a thread outside tasks, at a moment.
    blamed_work work_at(blame_kind kind, std::uint32_t task, std::uint32_t thread,
                        std::int64_t time_ns) {
        return work_of(kind, task, scopes_.innermost_at(task, thread, time_ns));
    }

    blamed_work work_of(blame_kind kind, std::uint32_t task, std::uint32_t scope) {
        if (task != none || scope != none) return {kind, places_.of_work(task, scope)};
        return {kind == blame_kind::woke ? blame_kind::outside : kind, nowhere_};
    }

    void add(std::uint32_t waiting, const blamed_work& work, std::int64_t time_ns,
             std::uint64_t count = 1) {
        if (time_ns <= 0) return;
        cell& to = cells_[std::uint64_t{waiting} << 32 | std::uint64_t{work.place} << 4 |
                          static_cast<std::uint64_t>(work.kind)];
        add_to(to.time_ns, time_ns);
        to.count += count;
    }

    void add_queued() {
        const std::vector<work_change> work =
            queued_.empty() ? std::vector<work_change>() : work_of_threads();
        for (const queue_charge& each :
             charge_queues(loaded_, executor_threads(loaded_), queued_, work)) {
            blamed_work to{blame_kind::ran, each.place};
            const bool may_be_idle = !has_unrecorded_work(loaded_);
            if (each.place == idle_place && may_be_idle) to = {blame_kind::idle, nowhere_};
            if (each.place == unknown_place || (each.place == idle_place && !may_be_idle))
                to = {blame_kind::unknown, nowhere_};
            add(each.waiting, to, each.time_ns, each.count);
        }
    }

    std::vector<work_change> work_of_threads() {
        std::vector<work_change> changes;
        changes.reserve(2 * (loaded_.slices.size() + loaded_.events.size()));
        for (std::uint32_t thread = 0; thread < loaded_.threads.size(); ++thread) {
            std::uint32_t last = idle_place;
            occupants_.on(thread).for_each_piece(
                0, INT64_MAX, [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t task) {
                    scopes_.for_each_piece(
                        task, thread, from_ns, to_ns,
                        [&](std::int64_t begin_ns, std::int64_t, std::uint32_t scope) {
                            const std::uint32_t place = task == none && scope == none
                                                            ? idle_place
                                                            : places_.of_work(task, scope);
                            if (place != last) changes.push_back({begin_ns, thread, place});
                            last = place;
                        });
                });
        }
        return changes;
    }

    void add_locks(const std::vector<lock_wait>& waits) {
        for (const lock_wait& each : waits) {
            const thread_work& waiter = each.waiter;
            add_holders(work_of(blame_kind::held, waiter.task, waiter.scope).place, each);
        }
    }

    // Charges the waits for resources in which a thread waited. The other ones are awaits.
    void add_resources() {
        for (const resource_wait& each : loaded_.resource_waits) {
            if (!is_on_thread(loaded_, each)) continue;
            const std::uint32_t waiting =
                work_at(blame_kind::held, each.task, each.thread, each.start_ns).place;
            if (is_for_result(loaded_, each) && has_releaser(each))
                add(waiting,
                    work_at(blame_kind::woke, each.releaser_task, each.releaser_thread,
                            *each.released_ns - 1),
                    each.end_ns - each.start_ns);
            else
                add_holders(waiting, each);
        }
    }

    // Charges a wait to the holders of the lock or resource.
    template <class Wait>
    void add_holders(std::uint32_t waiting, const Wait& wait) {
        std::int64_t unknown_ns = wait.end_ns - wait.start_ns;
        held_.holds().for_each_in(
            wait, wait.start_ns, wait.end_ns,
            [&](const thread_work& holder, std::int64_t from_ns, std::int64_t to_ns) {
                unknown_ns -= to_ns - from_ns;
                add(waiting, work_of(blame_kind::held, holder.task, holder.scope), to_ns - from_ns);
            });
        if (unknown_ns > 0) add(waiting, {blame_kind::unknown, nowhere_}, unknown_ns);
    }

    [[nodiscard]] std::vector<await_blame> rows() const {
        std::vector<await_blame> made;
        for (const auto& [key, sums] : cells_) {
            const numbered_place& waiting = places_[static_cast<std::uint32_t>(key >> 32)];
            const numbered_place& work = places_[static_cast<std::uint32_t>(key >> 4) & 0xfff'ffff];
            made.push_back({waiting.label, waiting.site, static_cast<blame_kind>(key & 0xf),
                            work.label, work.site, sums.count, sums.time_ns});
        }
        std::ranges::sort(made, [](const await_blame& left, const await_blame& right) {
            return std::tie(right.time_ns, left.waiting, left.waiting_site, left.kind, left.label,
                            left.site) < std::tie(left.time_ns, right.waiting, right.waiting_site,
                                                  right.kind, right.label, right.site);
        });
        return made;
    }

    const trace& loaded_;
    place_numbers places_;
    std::uint32_t nowhere_;
    held_waits held_;
    thread_occupants occupants_;
    scope_timelines scopes_;
    std::vector<queued_wait> queued_;
    std::unordered_map<std::uint64_t, cell> cells_;  // by waiting place, place and kind
};

}  // namespace

std::string_view name_of(blame_kind kind) noexcept {
    switch (kind) {
        case blame_kind::ran: return "ran on the executor";
        case blame_kind::idle: return "no task on the executor";
        case blame_kind::held: return "held it";
        case blame_kind::awaited: return "awaited";
        case blame_kind::woke: return "woke it";
        case blame_kind::timer: return "a timer";
        case blame_kind::device: return "a device";
        case blame_kind::outside: return "outside tasks";
        case blame_kind::unknown: break;
    }
    return "unknown";
}

std::vector<await_blame> blame_of_awaits(const trace& loaded) {
    return blame_matrix(loaded).take();
}

}  // namespace coroscope::analysis
