// SPDX-License-Identifier: Apache-2.0

// Draws the elements of a trace in the order in which lanes must get them.

#include "draw.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <coroscope/analysis/executor_statistics.hpp>

#include "drawing.hpp"
#include "drawing_order.hpp"

namespace coroscope::analysis::inline timelines {
namespace {

enum class span_kind : std::uint8_t { none, task, slice, scope, device, await };

/// Finds the sequence with the next span. If spans are equal, the sequence that was offered first
/// comes first.
class turn {
public:
    template <class Spans>
    turn& offer(const Spans& spans, span_kind kind) {
        if (!spans.done() && (kind_ == span_kind::none || goes_before(spans.front(), front_))) {
            front_ = spans.front();
            kind_ = kind;
        }
        return *this;
    }
    [[nodiscard]] span_kind kind() const noexcept { return kind_; }

private:
    span front_{};
    span_kind kind_ = span_kind::none;
};

/// Passes all kinds of spans to `out` as one sequence by (start ascending, end descending), as
/// lanes require. If spans are equal, the outer kind comes first.
void draw_spans(drawing& out, const trace& from, const canvas& on) {
    const auto spans_of = [&out](const auto& elements) {
        return ordered_spans(elements.size(),
                             [&](std::uint32_t at) { return out.span_of(elements[at]); });
    };
    auto tasks = spans_of(from.tasks);
    auto slices = ordered_spans(from.slices.size(),
                                [&out](std::uint32_t at) { return out.span_of_slice(at); });
    auto scopes = spans_of(from.events);
    auto devices = spans_of(from.device_activities);
    auto awaits = spans_of(from.awaits);
    while (!on.failed()) {
        const turn next = turn()
                              .offer(tasks, span_kind::task)
                              .offer(slices, span_kind::slice)
                              .offer(scopes, span_kind::scope)
                              .offer(devices, span_kind::device)
                              .offer(awaits, span_kind::await);
        switch (next.kind()) {
            case span_kind::task: out.draw_task(tasks.pop()); break;
            case span_kind::slice: out.draw_slice(slices.pop()); break;
            case span_kind::scope: out.draw_scope(scopes.pop()); break;
            case span_kind::device: out.draw_device_activity(devices.pop()); break;
            case span_kind::await: out.draw_await(awaits.pop()); break;
            case span_kind::none: return;
        }
    }
}

/// Draws the values, with a track for each label. Returns the number of tracks.
std::uint32_t draw_values(const trace& from, canvas& on) {
    std::map<std::string_view, std::uint32_t> tracks;
    for (const value_info& each : from.values) {
        if (on.failed()) break;
        if (!std::isfinite(each.number)) continue;
        const std::string_view label = each.site < from.sites.size()
                                           ? std::string_view(from.sites[each.site].label)
                                           : "unknown";
        const std::uint32_t track =
            tracks.try_emplace(label, static_cast<std::uint32_t>(tracks.size())).first->second;
        on.draw_counter({track, label, each.time_ns, each.number});
    }
    return static_cast<std::uint32_t>(tracks.size());
}

/// Returns a unique name, because viewers identify a counter by its name.
std::string name_of_queue(const trace& from, std::uint32_t executor) {
    const executor_info& info = from.executors[executor];
    std::string name("queue of ");
    name.append(name_of_executor(from, executor));
    if (!info.name.empty()) name.append(" (").append(std::to_string(info.number)).append(")");
    return name;
}

/// Draws the lengths of executors' queues. Executors whose queues stay empty have no track.
void draw_queues(const trace& from, canvas& on, std::uint32_t track) {
    if (from.executors.empty()) return;
    const auto lengths = queue_lengths(from);
    for (std::uint32_t executor = 0; executor < lengths.size() && !on.failed(); ++executor) {
        if (lengths[executor].empty()) continue;
        const std::string name = name_of_queue(from, executor);
        for (const queue_step& each : lengths[executor])
            on.draw_counter({track, name, std::clamp<std::int64_t>(each.time_ns, 0, latest_ns),
                             static_cast<double>(each.length)});
        ++track;
    }
}

void draw_counters(const trace& from, canvas& on) {
    const std::uint32_t values = draw_values(from, on);
    draw_queues(from, on, values);
}

}  // namespace

chrome_totals draw(const trace& from, canvas& on) {
    drawing out(from, on);
    out.name_lanes();
    out.draw_flow_sources();
    draw_spans(out, from, on);
    out.draw_last_states();
    out.draw_requests();
    out.draw_waits();
    draw_counters(from, on);
    return out.totals();
}

}  // namespace coroscope::analysis::inline timelines
