// SPDX-License-Identifier: Apache-2.0
#include "open_ranges.hpp"

namespace coroscope::analysis::inline scopes {

std::uint32_t task_of(const range_label& label, const timeline& line, const trace& loaded) {
    const std::uint32_t task = line.switches[line.in_force(label.position, 0)].task;
    return task < loaded.tasks.size() ? task : none;
}

namespace {

other_scope other_scope_of(const range_label& label, const timeline& line,
                           const scope_context& context) {
    trace& loaded = context.loaded;
    other_scope scope;
    scope.start_ns = label.start_ns;
    scope.end_ns = loaded.duration_ns;
    scope.position = label.position;
    scope.name = label.text;
    scope.thread = context.records.streams[label.stream].thread;
    scope.task = task_of(label, line, loaded);
    scope.flags = event_explicit | event_open | event_async;
    scope.encloses = false;
    event_detail detail;
    detail.end_thread = scope.thread;
    if (scope.task != none) {
        detail.time = context.histories.between(scope.task, scope.start_ns, scope.end_ns).time;
    } else {
        detail.time.waiting_ns = scope.end_ns - scope.start_ns;
        scope.flags |= event_suspension_unknown;
    }
    scope.detail = static_cast<std::uint32_t>(loaded.details.size());
    loaded.details.push_back(detail);
    return scope;
}

}  // namespace

void add_open_ranges(const scope_texts& texts, const std::vector<timeline>& timelines,
                     const scope_context& context, std::vector<stream_scopes>& scopes) {
    const std::vector<range_label>& labels = context.records.labels;
    for (std::size_t at = 0; at < labels.size(); ++at) {
        if (texts.end_of(at)) continue;
        const std::uint32_t stream = labels[at].stream;
        scopes[stream].others.push_back(other_scope_of(labels[at], timelines[stream], context));
        ++context.loaded.health.open_ranges;
    }
}

}  // namespace coroscope::analysis::inline scopes
