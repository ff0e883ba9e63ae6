// SPDX-License-Identifier: Apache-2.0
#include "scope_states.hpp"

#include <algorithm>
#include <utility>

namespace coroscope::analysis::inline answers {
namespace {

bool runs_throughout(const trace& loaded, const event& of) {
    return of.detail >= loaded.details.size() ||
           loaded.details[of.detail].time.running_ns == of.end_ns - of.start_ns;
}

bool is_off_threads(const event& of) noexcept {
    return (of.flags & (event_suspension_unknown | event_await)) != 0;
}

}  // namespace

scope_states::scope_states(const trace& loaded) : loaded_(&loaded), near_(loaded.threads.size()) {
    slices_of_threads slices(loaded.threads.size());
    if (loaded.states.any()) {
        for (std::uint32_t at = 0; at < loaded.slices.size(); ++at)
            if (loaded.slices[at].thread < slices.size())
                slices[loaded.slices[at].thread].push_back(at);
        for (std::vector<std::uint32_t>& each : slices)
            std::ranges::sort(each, {},
                              [&](std::uint32_t at) { return loaded.slices[at].start_ns; });
    }
    slices_ = std::make_shared<const slices_of_threads>(std::move(slices));
}

state_times scope_states::running(const event& of, std::uint32_t thread) {
    if (is_off_threads(of)) return {};
    if (runs_throughout(*loaded_, of) || of.task >= loaded_->tasks.size()) {
        if (thread != none && thread != of.thread) return {};
        return between(of.thread, of.start_ns, of.end_ns);
    }
    return of_slices(loaded_->tasks[of.task], of.start_ns, of.end_ns, thread);
}

state_times scope_states::own(const event& of, std::uint32_t thread) {
    if (has_no_self_time(of)) return {};
    state_times times = running(of, thread);
    if (of.task == none && !is_off_threads(of) && (thread == none || thread == of.thread))
        times.subtract(of_slices_on(of.thread, of.start_ns, of.end_ns));
    return times;
}

state_times scope_states::of_task(const task_info& task) {
    return of_slices(task, 0, loaded_->duration_ns, none);
}

state_times scope_states::between(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns) {
    if (thread >= near_.size()) return loaded_->states.between(thread, from_ns, to_ns);
    return loaded_->states.between(thread, from_ns, to_ns, near_[thread]);
}

state_times scope_states::of_slices(const task_info& task, std::int64_t from_ns, std::int64_t to_ns,
                                    std::uint32_t thread) {
    state_times times;
    const auto first = loaded_->slices.begin();
    if (task.slices.empty() || task.slices.back() >= loaded_->slices.size()) return times;
    const auto begin = first + task.slices.front();
    const auto end = begin + static_cast<std::ptrdiff_t>(task.slices.size());
    auto at = std::partition_point(begin, end,
                                   [from_ns](const slice& each) { return each.end_ns <= from_ns; });
    for (; at != end && at->start_ns < to_ns; ++at) {
        if (thread != none && at->thread != thread) continue;
        times.add(loaded_->states.between(at->thread, std::max(at->start_ns, from_ns),
                                          std::min(at->end_ns, to_ns)));
    }
    return times;
}

state_times scope_states::of_slices_on(std::uint32_t thread, std::int64_t from_ns,
                                       std::int64_t to_ns) {
    state_times times;
    if (thread >= slices_->size()) return times;
    const std::vector<std::uint32_t>& all = (*slices_)[thread];
    auto at = std::ranges::partition_point(
        all, [&](std::uint32_t index) { return loaded_->slices[index].end_ns <= from_ns; });
    for (; at != all.end() && loaded_->slices[*at].start_ns < to_ns; ++at) {
        times.add(loaded_->states.between(thread, std::max(loaded_->slices[*at].start_ns, from_ns),
                                          std::min(loaded_->slices[*at].end_ns, to_ns)));
    }
    return times;
}

bool has_no_self_time(const event& of) noexcept {
    return (of.flags & event_explicit) != 0 && of.self_running_ns == 0;
}

state_times settled(state_times times, std::int64_t whole_ns) noexcept {
    std::int64_t rest_ns = std::max<std::int64_t>(whole_ns, 0);
    for (std::int64_t* part : {&times.on_cpu_ns, &times.blocked_ns, &times.preempted_ns}) {
        *part = std::clamp<std::int64_t>(*part, 0, rest_ns);
        rest_ns -= *part;
    }
    times.unknown_ns = rest_ns;
    return times;
}

}  // namespace coroscope::analysis::inline answers
