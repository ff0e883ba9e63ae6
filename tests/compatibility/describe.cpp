// SPDX-License-Identifier: Apache-2.0
#include "describe.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/task_statistics.hpp>

namespace coroscope::test {
namespace {

class lines {
public:
    /// `kind name`, and then ` key=value` for each figure.
    template <class... Figures>
    void add(std::string_view kind, std::string_view name, const Figures&... figures) {
        std::string line(kind);
        line.append(" ").append(name);
        (line.append(" ").append(figures), ...);
        all_.push_back(std::move(line));
    }

    [[nodiscard]] std::string text() {
        std::sort(all_.begin(), all_.end());
        std::string joined;
        for (const std::string& line : all_) joined.append(line).append("\n");
        return joined;
    }

private:
    std::vector<std::string> all_;
};

template <class Number>
std::string figure(std::string_view key, Number value) {
    return std::string(key) + "=" + std::to_string(value);
}

std::string text_at(const analysis::trace& loaded, std::uint32_t index) {
    return index == analysis::none ? std::string("-") : loaded.strings[index];
}

std::string split(const analysis::time_split& time) {
    return figure("running", time.running_ns) + " " + figure("suspended", time.suspended_ns) + " " +
           figure("queued", time.queued_ns) + " " + figure("waiting", time.waiting_ns);
}

void add_scopes(lines& out, const analysis::trace& loaded) {
    for (const auto& row : analysis::key_averages(loaded))
        out.add("scope", row.name, figure("count", row.count),
                figure("in_frame", row.in_frame_count), figure("total", row.cpu_time_total_ns),
                figure("self", row.self_cpu_time_total_ns), figure("wall", row.wall_ns),
                figure("suspended", row.suspended_ns), figure("queued", row.queued_ns),
                figure("waiting", row.waiting_ns), figure("memory", row.self_cpu_memory_usage));
}

void add_tasks(lines& out, const analysis::trace& loaded) {
    for (const auto& row : analysis::task_statistics(loaded))
        out.add("task", row.name, figure("count", row.count),
                figure("finished", row.in_state(analysis::task_state::finished)),
                figure("failed", row.in_state(analysis::task_state::failed)),
                figure("abandoned", row.in_state(analysis::task_state::abandoned)),
                split(row.time));
    for (const auto& row : analysis::await_statistics(loaded))
        out.add("await", row.name, figure("count", row.times.count),
                figure("unknown_wakes", row.times.unknown_wakes),
                figure("suspended", row.times.suspended_ns), figure("queued", row.times.queued_ns),
                figure("waiting", row.times.waiting_ns), figure("device", row.times.device_ns));
}

void add_texts(lines& out, const analysis::trace& loaded) {
    for (const auto& each : loaded.attributes)
        out.add("attribute", text_at(loaded, each.key), text_at(loaded, each.value));
    for (const auto& each : loaded.events)
        if (each.detail != analysis::none &&
            loaded.details[each.detail].arguments != analysis::none)
            out.add("arguments", text_at(loaded, each.name),
                    text_at(loaded, loaded.details[each.detail].arguments));
    for (const auto& each : loaded.notes)
        out.add("note", text_at(loaded, loaded.events[each.event].name),
                text_at(loaded, each.input_shapes), text_at(loaded, each.input_types),
                figure("sequence", each.sequence_number));
    for (const auto& each : loaded.streams)
        out.add("stream", text_at(loaded, each.name), figure("items", each.items.size()));
    for (const auto& each : loaded.device_activities)
        out.add("device", text_at(loaded, each.name), figure("what", static_cast<int>(each.what)),
                figure("start", each.start_ns), figure("end", each.end_ns),
                figure("bytes", each.bytes));
}

std::string of_task(const analysis::trace& loaded, std::uint32_t task) {
    return task == analysis::none ? std::string("-") : figure("task", loaded.tasks[task].id);
}

std::string released(const analysis::optional_ns& at_ns) {
    return at_ns ? figure("released", *at_ns) : std::string("released=-");
}

std::string site_label(const analysis::trace& loaded, std::uint32_t site) {
    return site == analysis::none ? std::string("-") : loaded.sites[site].label;
}

void add_waits(lines& out, const analysis::trace& loaded) {
    for (const auto& each : loaded.lock_waits)
        out.add("lock", figure("kind", static_cast<int>(each.kind)), figure("start", each.start_ns),
                figure("end", each.end_ns), released(each.released_ns),
                figure("address", each.address), figure("holder", each.holder_os_id),
                of_task(loaded, each.waiter.task), of_task(loaded, each.holder.task),
                of_task(loaded, each.releaser.task), figure("gave_up", each.gave_up),
                figure("began_before", each.began_before));
    for (const auto& each : loaded.resource_waits)
        out.add("resource", site_label(loaded, each.site), figure("start", each.start_ns),
                figure("end", each.end_ns), released(each.released_ns),
                figure("capacity", each.capacity), of_task(loaded, each.task),
                of_task(loaded, each.holder_task), of_task(loaded, each.releaser_task),
                figure("gave_up", each.gave_up), figure("shared", each.shared));
    for (const auto& each : loaded.blocking_calls)
        out.add("call", figure("function", static_cast<int>(each.function)),
                figure("descriptor", static_cast<int>(each.descriptor)),
                figure("start", each.start_ns), figure("end", each.end_ns),
                of_task(loaded, each.task));
}

void add_requests(lines& out, const analysis::trace& loaded) {
    for (const auto& each : loaded.requests)
        out.add("request", text_at(loaded, each.name), figure("start", each.start_ns),
                figure("wall", each.wall_ns()), figure("deadline", each.deadline_ns.value_or(-1)),
                figure("ended", static_cast<int>(each.end)), of_task(loaded, each.task));
    for (const auto& each : loaded.values)
        out.add("value", site_label(loaded, each.site), figure("at", each.time_ns),
                figure("number", each.number), of_task(loaded, each.task));
}

void add_awaited(lines& out, const analysis::trace& loaded) {
    for (const auto& each : loaded.executors)
        out.add("executor", each.name, figure("number", each.number),
                figure("kind", static_cast<int>(each.kind)),
                figure("inner", static_cast<std::int32_t>(each.inner)));
    for (const auto& each : loaded.objects)
        out.add("object", each.name, figure("number", each.number),
                figure("kind", static_cast<int>(each.kind)));
    for (const auto& each : loaded.awaits)
        if (each.awaited == analysis::none &&
            each.outcome != coroscope::trace::await_outcome::
                                unknown)  // else the outcome follows from the awaited task
            out.add("outcome", std::to_string(static_cast<int>(each.outcome)),
                    figure("suspend", each.suspend_ns),
                    figure("object", static_cast<std::int32_t>(each.object)),
                    figure("executor", static_cast<std::int32_t>(each.executor)));
    for (const auto& each : loaded.sites)
        if (each.frame_bytes != 0)
            out.add("frame", each.function, figure("bytes", each.frame_bytes));
}

void add_states(lines& out, const analysis::trace& loaded) {
    const analysis::thread_states& states = loaded.states;
    if (!states.any()) return;
    out.add("states", "of the session", figure("source", static_cast<int>(states.source)),
            figure("switches", states.switches), figure("lost", states.lost_switches),
            figure("processors", states.processors), figure("quota", states.quota_percent));
    for (std::uint32_t thread = 0; thread < loaded.threads.size(); ++thread) {
        const auto times = states.between(thread, 0, loaded.duration_ns);
        out.add("states", "of a thread", figure("on_cpu", times.on_cpu_ns),
                figure("blocked", times.blocked_ns), figure("preempted", times.preempted_ns),
                figure("unknown", times.unknown_ns),
                figure("summed_on_cpu", states.sums_of(thread).on_cpu_ns));
    }
    for (const auto& each : states.looks)
        out.add("look", figure("at", each.time_ns), figure("since", each.since_ns.value_or(-1)),
                figure("call", each.call), figure("address", each.address),
                figure("descriptor", each.descriptor), figure("holder", each.holder_os_id),
                figure("lock", static_cast<int>(each.lock)));
}

}  // namespace

std::string describe(const analysis::trace& loaded) {
    lines out;
    add_scopes(out, loaded);
    add_tasks(out, loaded);
    add_texts(out, loaded);
    add_waits(out, loaded);
    add_requests(out, loaded);
    add_awaited(out, loaded);
    add_states(out, loaded);
    out.add("total", "events", figure("count", loaded.events.size()));
    out.add("total", "slices", figure("count", loaded.slices.size()));
    out.add("total", "threads", figure("count", loaded.threads.size()));
    out.add("total", "memory", figure("count", loaded.memory.size()));
    out.add("total", "session", figure("duration", loaded.duration_ns), loaded.policy,
            loaded.trace_id, loaded.health.finished ? "finished" : "unfinished");
    for (const auto& each : loaded.events)
        if ((each.flags & analysis::event_open) != 0 && each.site != analysis::none)
            out.add("open", text_at(loaded, each.name), figure("start", each.start_ns),
                    figure("end", each.end_ns));
    out.add("total", "lost",
            figure("count", loaded.health.dropped_newest + loaded.health.overwritten +
                                loaded.health.late_records + loaded.health.damaged_chunks +
                                loaded.health.warnings.size()));
    return out.text();
}

}  // namespace coroscope::test
