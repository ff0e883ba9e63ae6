// SPDX-License-Identifier: Apache-2.0
#include "request_flow.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "../model/missing_facts.hpp"
#include "../words/places.hpp"

namespace coroscope::analysis::inline checks {
namespace {

constexpr int deepest = 16;                       // of scopes and tasks that are only wrappers
constexpr std::int64_t shortest_step_ns = 1'000;  // shorter waits are no waits

bool is_failure(coroscope::trace::await_outcome outcome) {
    using coroscope::trace::await_outcome;
    return outcome == await_outcome::error || outcome == await_outcome::exception;
}

class flow_builder {
public:
    explicit flow_builder(check_input& input)
        : input_(input), loaded_(input.loaded()), has_losses_(has_losses(loaded_)) {}

    request_flow build(request_flow level) {
        std::vector<request_flow> wrappers;
        for (int depth = 0; depth < deepest; ++depth) {
            collect(level);
            request_flow around = level;
            if (level.steps.size() != 1 || !is_wrapper(level) || !go_into(level)) break;
            wrappers.push_back(std::move(around));
        }
        level.wrappers = std::move(wrappers);
        return level;
    }

private:
    // Whether the only step takes nine tenths of the time.
    static bool is_wrapper(const request_flow& level) {
        return level.steps.front().length_ns() * 10 >= (level.end_ns - level.start_ns) * 9;
    }

    bool go_into(request_flow& level) const {
        const flow_step step = level.steps.front();
        if (scope_of_step_ != none) {
            level = {level.task, scope_of_step_, step.start_ns, step.end_ns};
            return true;
        }
        if (step.child >= loaded_.tasks.size()) return false;
        level = {step.child, none, step.start_ns, step.end_ns};
        return true;
    }

    void collect(request_flow& level) {
        level.steps.clear();
        scope_of_step_ = none;
        if (level.task >= loaded_.tasks.size()) return;
        add_scopes(level);
        add_awaits(level);
        std::ranges::stable_sort(level.steps, {}, &flow_step::start_ns);
        if (level.steps.size() != 1) scope_of_step_ = none;
    }

    // The scopes directly below, in which the task was suspended.
    void add_scopes(request_flow& level) {
        const auto own = input_.events_of(level.task);
        const auto first = std::ranges::lower_bound(
            own, level.start_ns, {}, [&](std::uint32_t at) { return loaded_.events[at].start_ns; });
        for (auto at = first; at != own.end(); ++at) {
            const event& scope = loaded_.events[*at];
            if (scope.start_ns >= level.end_ns) break;
            if (!is_below(scope, level.scope) || *at == level.scope ||
                scope.end_ns > level.end_ns || scope.detail == none)
                continue;
            const time_split& time = loaded_.details[scope.detail].time;
            const std::int64_t suspended_ns = time.suspended_ns + time.waiting_ns;
            if (suspended_ns + time.queued_ns < shortest_step_ns) continue;
            flow_step step{.place = input_.places().of_work(level.task, *at),
                           .start_ns = scope.start_ns,
                           .end_ns = scope.end_ns,
                           .suspended_ns = suspended_ns,
                           .queued_ns = time.queued_ns,
                           .is_call = true,
                           .is_unproven = has_losses_ && time.waiting_ns >= shortest_step_ns};
            add_inner_awaits(level, *at, step);
            level.steps.push_back(step);
            scope_of_step_ = *at;
        }
    }

    // A scope of a task is below the whole task if no other scope of the task is around it.
    [[nodiscard]] bool is_below(const event& scope, std::uint32_t around) const {
        if (scope.parent == around) return true;
        if (around != none) return false;
        return scope.parent >= loaded_.events.size() ||
               loaded_.events[scope.parent].task != scope.task;
    }

    template <class Use>
    void for_each_await(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                        Use use) const {
        const index_range& own = loaded_.tasks[task].awaits;
        if (own.empty()) return;
        const auto begin = loaded_.awaits.begin() + own.front();
        const auto end = begin + static_cast<std::ptrdiff_t>(own.size());
        for (auto at = std::ranges::lower_bound(begin, end, from_ns, {}, &await_info::suspend_ns);
             at != end && at->suspend_ns < to_ns; ++at)
            use(static_cast<std::uint32_t>(at - loaded_.awaits.begin()), *at);
    }

    void add_inner_awaits(const request_flow& level, std::uint32_t scope, flow_step& step) const {
        std::uint32_t count = 0;
        for_each_await(level.task, step.start_ns, step.end_ns,
                       [&](std::uint32_t at, const await_info& await) {
                           if (length_of(await) < shortest_step_ns) return;
                           ++count;
                           step.await = at;
                           step.failed = is_failure(await.outcome);
                       });
        if (count != 1) {
            step.await = none;
            return;
        }
        // A named wait is a scope whose name its only await has.
        const await_info& only = loaded_.awaits[step.await];
        step.child = only.awaited;
        step.is_timer =
            only.reason == wake_reason::timer && only.site == loaded_.events[scope].site;
    }

    void add_awaits(request_flow& level) {
        const std::size_t scopes = level.steps.size();
        std::size_t next = 0;  // the scopes before it ended before the await
        const auto is_in_scope = [&](const await_info& await) {
            while (next < scopes && level.steps[next].end_ns <= await.suspend_ns) ++next;
            return next < scopes && level.steps[next].start_ns <= await.suspend_ns;
        };
        for_each_await(
            level.task, level.start_ns, level.end_ns,
            [&](std::uint32_t at, const await_info& await) {
                if (length_of(await) < shortest_step_ns || !await.resume_ns || is_in_scope(await))
                    return;
                const std::int64_t ready_ns = await.wake_ns.value_or(*await.resume_ns);
                const site_info* const site = find_site(loaded_, await.site);
                const bool has_child = await.awaited < loaded_.tasks.size();
                level.steps.push_back(
                    {.place = has_child ? place_of_child(input_, await.awaited)
                                        : input_.places().of_await(await),
                     .start_ns = await.suspend_ns,
                     .end_ns = *await.resume_ns,
                     .suspended_ns = ready_ns - await.suspend_ns,
                     .queued_ns = *await.resume_ns - ready_ns,
                     .await = at,
                     .child = await.awaited,
                     .is_timer = await.reason == wake_reason::timer,
                     .is_call = has_child || (site != nullptr && !loaded_.tasks[level.task].asio &&
                                              !site->label.empty()),
                     .failed = is_failure(await.outcome),
                     .is_unproven = has_losses_ && !await.wake_ns});
            });
    }

    static std::int64_t length_of(const await_info& await) {
        return await.resume_ns.value_or(await.suspend_ns) - await.suspend_ns;
    }

    check_input& input_;
    const trace& loaded_;
    bool has_losses_;
    std::uint32_t scope_of_step_ = none;  // of the only step, if it is a scope
};

}  // namespace

std::uint32_t place_of_child(check_input& input, std::uint32_t task) {
    const trace& loaded = input.loaded();
    const task_info& of = loaded.tasks[task];
    const auto own = input.events_of(task);
    if (own.empty()) return input.places().of_task(task);
    const event& first = loaded.events[own.front()];
    const std::int64_t start_ns =
        of.slices.empty() ? first.start_ns : loaded.slices[of.slices.front()].start_ns;
    const std::int64_t wall_ns = of.end_ns.value_or(loaded.duration_ns) - start_ns;
    return first.end_ns - first.start_ns >= wall_ns / 2 ? input.places().of_work(task, own.front())
                                                        : input.places().of_task(task);
}

request_flow flow_of(check_input& input, const checked_request& request) {
    const request_info& of = request.info;
    if (of.task >= input.loaded().tasks.size()) return {};
    return flow_builder(input).build({of.task, of.event, of.start_ns, of.end_ns});
}

}  // namespace coroscope::analysis::inline checks
