// SPDX-License-Identifier: Apache-2.0
#include "family_rules.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "request_flow.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// The slowest child decides if the others would have been ready in half of the time.
constexpr std::int64_t decisive_times = 2;
constexpr double least_fan_out_share = 0.1;
// A request that changes its executor so often is a conversation between the executors, not a
// division of labour; it must spend so much of its time between them.
constexpr std::uint64_t many_hops = 6;
constexpr double least_hop_share = 0.2;

/// The children of each task, by spawn.
class children_index {
public:
    explicit children_index(const trace& loaded) : starts_(loaded.tasks.size() + 1) {
        for (const task_info& each : loaded.tasks)
            if (each.parent < loaded.tasks.size()) ++starts_[each.parent + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        children_.resize(starts_.back());
        std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
        for (std::uint32_t at = 0; at < loaded.tasks.size(); ++at)
            if (const std::uint32_t parent = loaded.tasks[at].parent; parent < next.size())
                children_[next[parent]++] = at;
    }

    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t task) const {
        return std::span(children_).subspan(starts_[task], starts_[task + 1] - starts_[task]);
    }

private:
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint32_t> children_;
};

struct fan_out_group {
    victim_sums victims;
    evidence_list evidence;
    std::uint64_t fan_outs = 0;
    std::uint64_t children = 0;
    std::int64_t slowest_ns = 0;
    std::int64_t others_ns = 0;
};

class fan_out_finder {
public:
    explicit fan_out_finder(check_input& input)
        : input_(input), loaded_(input.loaded()), children_(loaded_) {}

    std::map<std::uint32_t, fan_out_group> find() {
        for (std::uint32_t at = 0; at < input_.requests().size(); ++at) {
            const request_flow flow = flow_of(input_, input_.requests()[at]);
            for (const flow_step& each : flow.steps) add(at, flow, each);
            for (const request_flow& around : flow.wrappers)
                for (const flow_step& each : around.steps) add(at, around, each);
        }
        return std::move(groups_);
    }

private:
    // Time without the queue, which other rules explain.
    [[nodiscard]] static std::int64_t own_ns(const task_info& child) {
        return child.time.running_ns + child.time.suspended_ns + child.time.waiting_ns;
    }

    // The children that the request spawned before or in the step and that ended in it.
    [[nodiscard]] std::vector<std::uint32_t> children_in(const request_flow& flow,
                                                         const flow_step& step) const {
        std::vector<std::uint32_t> found;
        for (const std::uint32_t at : children_.of(flow.task)) {
            const task_info& child = loaded_.tasks[at];
            if (child.spawn_ns && *child.spawn_ns >= flow.start_ns && child.end_ns &&
                *child.spawn_ns < step.end_ns && *child.end_ns > step.start_ns &&
                *child.end_ns <= step.end_ns && child.state == task_state::finished)
                found.push_back(at);
        }
        std::ranges::sort(found, {}, [&](std::uint32_t at) { return own_ns(loaded_.tasks[at]); });
        return found;
    }

    void add(std::uint32_t request, const request_flow& flow, const flow_step& step) {
        const std::vector<std::uint32_t> found = children_in(flow, step);
        if (found.size() < 2) return;
        const task_info& last = loaded_.tasks[found.back()];
        const task_info& other = loaded_.tasks[found[(found.size() - 1) / 2]];
        const bool is_parallel = *last.spawn_ns < *other.end_ns && *other.spawn_ns < *last.end_ns;
        if (!is_parallel || own_ns(last) < decisive_times * own_ns(other)) return;
        fan_out_group& group = groups_[place_of_child(input_, found.back())];
        const std::int64_t cost_ns =
            std::min(own_ns(last) - own_ns(other), step.end_ns - step.start_ns);
        group.victims.add(input_, request, cost_ns);
        ++group.fan_outs;
        group.children += found.size();
        add_to(group.slowest_ns, own_ns(last));
        add_to(group.others_ns, own_ns(other));
        const numbered_place& place = input_.places()[place_of_child(input_, found.back())];
        group.evidence.add({.text = "was the last child",
                            .place = {place.label, place.site},
                            .task = found.back(),
                            .request = input_.requests()[request].info.id,
                            .start_ns = *last.spawn_ns,
                            .length_ns = *last.end_ns - *last.spawn_ns});
    }

    check_input& input_;
    const trace& loaded_;
    children_index children_;
    std::map<std::uint32_t, fan_out_group> groups_;  // by the place of the slowest child
};

struct hop_group {
    victim_sums victims;
    place_sums causes;
    evidence_list evidence;
    std::uint64_t hops = 0;
    std::uint32_t first = none;  // executors
    std::uint32_t second = none;
};

/// The changes of the executor in one request.
class hop_counter {
public:
    hop_counter(check_input& input, std::uint32_t request) : input_(input), request_(request) {}

    void count() {
        const trace& loaded = input_.loaded();
        const request_info& of = input_.requests()[request_].info;
        if (of.task >= loaded.tasks.size()) return;
        const task_info& task = loaded.tasks[of.task];
        for (const std::uint32_t at : task.awaits) {
            const await_info& await = loaded.awaits[at];
            if (await.suspend_ns < of.start_ns || !await.resume_ns) continue;
            if (await.suspend_ns >= of.end_ns) break;
            if (await.awaited < loaded.tasks.size()) add_child(await);
            move(await, await.executor,
                 *await.resume_ns - await.wake_ns.value_or(*await.resume_ns));
        }
    }

    std::uint64_t hops = 0;
    std::int64_t queued_ns = 0;
    std::uint32_t first = none;
    std::uint32_t second = none;
    place_sums causes;

private:
    void add_child(const await_info& await) {
        const trace& loaded = input_.loaded();
        const task_info& child = loaded.tasks[await.awaited];
        if (child.slices.empty() || !child.first_wake_ns) return;
        move(await, child.executor,
             loaded.slices[child.slices.front()].start_ns - *child.first_wake_ns);
    }

    void move(const await_info& await, std::uint32_t executor, std::int64_t wait_ns) {
        if (executor == none) return;
        if (current_ != none && executor != current_) {
            ++hops;
            first = current_;
            second = executor;
            add_to(queued_ns, std::max<std::int64_t>(wait_ns, 0));
            causes.add(await.awaited < input_.loaded().tasks.size() ? child_place(await.awaited)
                                                                    : input_.await_at(await),
                       std::max<std::int64_t>(wait_ns, 1));
        }
        current_ = executor;
    }

    finding_place child_place(std::uint32_t task) {
        const numbered_place& place = input_.places()[place_of_child(input_, task)];
        return {place.label, place.site};
    }

    check_input& input_;
    std::uint32_t request_;
    std::uint32_t current_ = none;
};

}  // namespace

void find_slowest_children(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    for (auto& [place, group] : fan_out_finder(input).find()) {
        const std::int64_t cost_ns = group.victims.time_ns();
        if (!input.is_worth(cost_ns, least_fan_out_share)) continue;
        const auto fan_outs = static_cast<std::int64_t>(group.fan_outs);
        finding made;
        made.cause = {input.places()[place].label, input.places()[place].site};
        made.victims = group.victims.list();
        made.count = group.fan_outs;
        made.cost_ns = cost_ns;
        made.title =
            fmt::format("`{}` is the slowest of children that are awaited together, {}; "
                        "{} waited for it, {}",
                        label_text(made.cause), times_text(group.fan_outs),
                        victims_text(input, group.victims.count()), share_text(input, cost_ns));
        made.explanation = {
            fmt::format("it took {} on average, the middle one of the others {}",
                        format_span(group.slowest_ns / fan_outs),
                        format_span(group.others_ns / fan_outs)),
            fmt::format("{:.1f} children on average; time in queues is left out",
                        static_cast<double>(group.children) / static_cast<double>(fan_outs))};
        made.evidence = group.evidence.take();
        to.push_back(std::move(made));
    }
}

void find_ping_pong(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    const trace& loaded = input.loaded();
    std::map<std::pair<std::string, std::uint32_t>, hop_group> groups;  // by type
    for (std::uint32_t at = 0; at < input.requests().size(); ++at) {
        hop_counter counter(input, at);
        counter.count();
        if (counter.hops < many_hops) continue;
        const finding_place type = input.type_of(input.requests()[at]);
        const finding_place place = counter.causes.largest();
        hop_group& group = groups[{type.label, type.site}];
        group.victims.add(input, at, counter.queued_ns);
        group.causes.add(place, counter.queued_ns);
        group.hops += counter.hops;
        group.first = counter.first;
        group.second = counter.second;
        const request_info& of = input.requests()[at].info;
        group.evidence.add({.text = "changed its executor",
                            .place = place,
                            .task = of.task,
                            .request = of.id,
                            .start_ns = of.start_ns,
                            .length_ns = of.wall_ns()});
    }
    for (auto& [type, group] : groups) {
        const std::int64_t cost_ns = group.victims.time_ns();
        if (!input.is_worth(cost_ns, least_hop_share)) continue;
        finding made;
        made.cause = group.causes.largest();
        made.victims = group.victims.list();
        made.count = group.hops;
        made.cost_ns = cost_ns;
        made.title = fmt::format(
            "requests go back and forth between {} and {} for `{}`, {} hops; {}, {}",
            printable(name_of_executor(loaded, group.first)),
            printable(name_of_executor(loaded, group.second)), label_text(made.cause), group.hops,
            victims_text(input, group.victims.count()), share_text(input, cost_ns));
        made.explanation = {
            fmt::format("{:.1f} changes of the executor for each request",
                        static_cast<double>(group.hops) /
                            static_cast<double>(group.victims.count())),
            fmt::format("they waited {} for a thread after these changes", format_span(cost_ns))};
        made.evidence = group.evidence.take();
        to.push_back(std::move(made));
    }
}

}  // namespace coroscope::analysis::inline checks
