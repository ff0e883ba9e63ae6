// SPDX-License-Identifier: Apache-2.0
#include "queue_rules.hpp"

#include <set>

#include <coroscope/analysis/executor_statistics.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "hold_rules.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

std::string executor_text(const trace& loaded, const queue_group& group) {
    if (group.executor >= loaded.executors.size()) return "its executor";
    return printable(name_of_executor(loaded, group.executor));
}

std::string threads_text(const trace& loaded, const queue_group& group) {
    const std::string name = executor_text(loaded, group);
    if (group.threads == 1) return "the only thread of " + name;
    if (group.threads == 0) return "the thread of " + name;
    return fmt::format("a thread of {} ({} threads)", name, group.threads);
}

// The long runs; if there are none, all of them.
std::uint64_t runs_of(const queue_group& group) {
    return group.long_runs != 0 ? group.long_runs : group.runs.size();
}

std::string states_line(const queue_group& group) {
    if (group.states.known_ns() == 0)
        return fmt::format("{} runs, the longest {}; the states of the threads are unknown",
                           group.runs.size(), format_span(group.longest_run_ns));
    return fmt::format("{} runs, the longest {}: {} on-CPU, {} blocked, {} preempted in all",
                       group.runs.size(), format_span(group.longest_run_ns),
                       format_span(group.states.on_cpu_ns), format_span(group.states.blocked_ns),
                       format_span(group.states.preempted_ns));
}

std::string ahead_line(const check_input& input, const queue_group& group) {
    const std::uint64_t tenths = group.waits == 0 ? 0 : 10 * group.blockers / group.waits;
    return fmt::format("{} waited behind it for {} in all, behind {}.{} such jobs at a time; the "
                       "threads had no task or no processor for {} of the queue",
                       victims_text(input, group.victims.count()),
                       format_span(group.victims.time_ns()), tenths / 10, tenths % 10,
                       format_span(input.stalled_of(group.executor).total_ns()));
}

// Makes the findings of all groups with that fault. `title(group, label)` is the sentence without
// the victims.
template <class Title>
void add_queues(rule_context& context, queue_fault fault, std::vector<finding>& to, Title title) {
    const check_input& input = context.input();
    for (queue_group& group : context.queue_groups()) {
        if (group.fault != fault) continue;
        finding made;
        made.cause = group.causes.largest();
        made.victims = group.victims.list();
        made.count = runs_of(group);
        made.cost_ns = group.victims.time_ns();
        made.title = fmt::format(
            "{}; {} waited behind it, {}", title(group, label_text(made.cause)),
            victims_text(input, group.victims.count()), share_text(input, made.cost_ns));
        made.explanation = {states_line(group), ahead_line(input, group)};
        made.evidence = group.evidence.take();
        to.push_back(std::move(made));
    }
}

// Jobs that wait for each other's lock are no queue that other jobs should overtake: the lock makes
// their runs long, and a finding about it names the holder.
void drop_backlogs_of_locks(rule_context& context) {
    const std::set<std::uint32_t> holders = kinds_of_holders(context.input());
    for (queue_group& each : context.queue_groups())
        if (each.fault == queue_fault::priority_inversion && holders.contains(each.kind))
            each.fault = queue_fault::none;
}

}  // namespace

std::string lacks_queues(const check_input& input) {
    const trace& loaded = input.loaded();
    if (!loaded.executors.empty() || !input.queue_delays().empty()) return {};
    return "known executors: Asio's tracking, executor_adaptor or fibers::tracked";
}

void find_blocking_calls(rule_context& context, std::vector<finding>& to) {
    add_queues(context, queue_fault::blocking_call, to,
               [&](const queue_group& group, const std::string& label) {
                   return fmt::format("`{}` blocks {} for up to {}, {}", label,
                                      threads_text(context.loaded(), group),
                                      format_span(group.longest_run_ns),
                                      times_text(runs_of(group)));
               });
}

void find_long_computations(rule_context& context, std::vector<finding>& to) {
    add_queues(context, queue_fault::long_computation, to,
               [&](const queue_group& group, const std::string& label) {
                   return fmt::format("`{}` {} {} for up to {}, {}", label,
                                      group.states.known_ns() == 0 ? "keeps" : "computes on",
                                      threads_text(context.loaded(), group),
                                      format_span(group.longest_run_ns),
                                      times_text(runs_of(group)));
               });
}

void find_small_executors(rule_context& context, std::vector<finding>& to) {
    add_queues(context, queue_fault::executor_too_small, to,
               [&](const queue_group& group, const std::string& label) {
                   return fmt::format("{} is too small for its jobs: `{}` occupied {} ({} runs)",
                                      executor_text(context.loaded(), group), label,
                                      group.threads == 1
                                          ? std::string("its only thread")
                                          : fmt::format("its {} threads", group.threads),
                                      group.runs.size());
               });
}

void find_hot_strands(rule_context& context, std::vector<finding>& to) {
    add_queues(context, queue_fault::hot_strand, to,
               [&](const queue_group& group, const std::string& label) {
                   return fmt::format(
                       "{} runs one job at a time: `{}` occupied it for up to {}, {}",
                       executor_text(context.loaded(), group), label,
                       format_span(group.longest_run_ns), times_text(runs_of(group)));
               });
}

void find_slow_jobs_ahead(rule_context& context, std::vector<finding>& to) {
    add_queues(context, queue_fault::head_of_line, to,
               [&](const queue_group& group, const std::string& label) {
                   return fmt::format("short jobs wait behind the slow job `{}`, which occupied {} "
                                      "for up to {}, {}",
                                      label, threads_text(context.loaded(), group),
                                      format_span(group.longest_run_ns),
                                      times_text(runs_of(group)));
               });
}

void find_pauses(rule_context& context, std::vector<finding>& to) {
    add_queues(context, queue_fault::periodic_pauses, to,
               [&](const queue_group& group, const std::string& label) {
                   return fmt::format("every {} `{}` keeps {} for up to {}, {}",
                                      format_span(group.period_ns), label,
                                      threads_text(context.loaded(), group),
                                      format_span(group.longest_run_ns), times_text(group.periods));
               });
}

void find_inversions(rule_context& context, std::vector<finding>& to) {
    drop_backlogs_of_locks(context);
    add_queues(context, queue_fault::priority_inversion, to,
               [&](const queue_group& group, const std::string& label) {
                   return fmt::format("a backlog of jobs `{}` runs before jobs of another kind on "
                                      "{}: {} runs",
                                      label, executor_text(context.loaded(), group),
                                      group.runs.size());
               });
}

}  // namespace coroscope::analysis::inline checks
