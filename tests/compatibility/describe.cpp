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

}  // namespace

std::string describe(const analysis::trace& loaded) {
    lines out;
    add_scopes(out, loaded);
    add_tasks(out, loaded);
    add_texts(out, loaded);
    out.add("total", "events", figure("count", loaded.events.size()));
    out.add("total", "slices", figure("count", loaded.slices.size()));
    out.add("total", "threads", figure("count", loaded.threads.size()));
    out.add("total", "memory", figure("count", loaded.memory.size()));
    out.add("total", "session", figure("duration", loaded.duration_ns), loaded.policy,
            loaded.trace_id, loaded.health.finished ? "finished" : "unfinished");
    out.add("total", "lost",
            figure("count", loaded.health.dropped_newest + loaded.health.overwritten +
                                loaded.health.late_records + loaded.health.damaged_chunks +
                                loaded.health.warnings.size()));
    return out.text();
}

}  // namespace coroscope::test
