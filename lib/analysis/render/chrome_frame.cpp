// SPDX-License-Identifier: Apache-2.0

// The parts of a Chrome trace around its spans: the document's beginning and end, names of lanes,
// what each element covers, and the arrows.

#include <algorithm>
#include <limits>

#include "chrome_events.hpp"
#include "utf8.hpp"

namespace coroscope::analysis::render {
namespace {

/// Half of what an int64 holds, so that no sum of two overflows: far beyond any session.
constexpr std::int64_t latest_ns = std::numeric_limits<std::int64_t>::max() / 2;

span sane(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t start = std::clamp<std::int64_t>(start_ns, 0, latest_ns);
    return {start, std::clamp(end_ns, start, latest_ns)};
}

}  // namespace

span chrome_events::span_of(const task_info& task) const {
    const std::int64_t start = task.first_wake_ns ? *task.first_wake_ns : task.spawn_ns.value_or(0);
    return sane(start, task.end_ns.value_or(from_.duration_ns));
}

span chrome_events::span_of(const slice& run) { return sane(run.start_ns, run.end_ns); }

span chrome_events::span_of(const event& scope) { return sane(scope.start_ns, scope.end_ns); }

span chrome_events::span_of(const device_activity& activity) {
    return sane(activity.start_ns, activity.end_ns);
}

span chrome_events::span_of(const await_info& await) const {
    if (await.resume_ns) return sane(await.suspend_ns, *await.resume_ns);
    const bool known = await.task < from_.tasks.size();
    const optional_ns end = known ? from_.tasks[await.task].end_ns : std::nullopt;
    return sane(await.suspend_ns, end.value_or(from_.duration_ns));
}

void chrome_events::begin() {
    out_.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    const std::string name_of_process = from_.process_name.empty() ? "process" : from_.process_name;
    name_process(process::threads, name_of_process, 0);
    for (std::uint32_t at = 0; at < from_.threads.size(); ++at) {
        const thread_info& thread = from_.threads[at];
        const bool named = !thread.name.empty();
        name_lane({process::threads, thread_tids_[at]},
                  named ? thread.name : "thread " + std::to_string(thread.id), at);
    }
    if (!from_.tasks.empty()) name_process(process::tasks, name_of_process + ": tasks", 1);
}

void chrome_events::write_flow_sources() {
    for (std::uint32_t task = 0; task < from_.tasks.size() && !failed(); ++task)
        write_flows_to(task);
    for (std::uint32_t at = 0; at < from_.device_activities.size() && !failed(); ++at)
        write_launch(at);
    find_resumed();
    find_ranges();
}

/// Spawn to first slice, and each wake to the slice that began with its resume.
void chrome_events::write_flows_to(std::uint32_t index) {
    const task_info& task = from_.tasks[index];
    if (task.slices.empty()) return;
    if (task.spawn_ns && !task.older_than_session) {
        write_flow_source(task.spawn_thread, *task.spawn_ns, index, task.slices.front(),
                          "\"name\":\"spawn\"");
    }
    auto next = task.slices.begin();
    for (const std::uint32_t each : task.awaits) {
        if (each >= from_.awaits.size()) continue;
        const await_info& await = from_.awaits[each];
        if (!await.wake_ns || !await.resume_ns) continue;
        while (next != task.slices.end() && *next < from_.slices.size() &&
               from_.slices[*next].start_ns < *await.resume_ns) {
            ++next;
        }
        if (next == task.slices.end()) return;
        write_flow_source(await.waker_thread, *await.wake_ns, index, *next, "\"name\":\"wake\"");
    }
}

void chrome_events::write_flow_source(std::uint32_t thread, std::int64_t time_ns,
                                      std::uint32_t task, std::uint32_t to, std::string_view name) {
    if (thread >= from_.threads.size() || to >= from_.slices.size() || flow_to_slice_[to]) return;
    flow_to_slice_[to] =
        write_flow_mark({process::threads, thread_tids_[thread]}, time_ns,
                        span_of(from_.slices[to]).start_ns, task, std::uint64_t{to} + 1, name);
}

/// A complete event of no length. An arrow bound to such an event starts at its time and on its
/// lane in every viewer; one that starts inside a longer event does not. False: there is no arrow.
bool chrome_events::write_flow_mark(const place& where, std::int64_t time_ns,
                                    std::int64_t leads_to_ns, std::uint32_t task, std::uint64_t id,
                                    std::string_view name) {
    // Of events at one time Perfetto takes the longer first, here the slice before what led to it,
    // and then loses the arrow. A hand-over therefore stands at the last nanosecond of the slice
    // that made it.
    if (time_ns == leads_to_ns) --time_ns;
    if (time_ns > leads_to_ns || time_ns < 0) return false;
    open_complete(where, {time_ns, time_ns}, name, ",\"cat\":\"flow\"");
    argument_list arguments(out_);
    write_task_id(arguments, "\"task\":", task);
    out_.raw("},\"flow_out\":true,\"bind_id\":").id(id).raw("}");
    ++totals_.flows;
    return true;
}

bool chrome_events::end() {
    out_.raw("\n],\"otherData\":{\"producer\":\"coroscope\"");
    write_losses();
    out_.raw("}}\n");
    return out_.flush();
}

void chrome_events::write_losses() {
    const trace_health& health = from_.health;
    out_.raw(",\"dropped_newest\":").integer(static_cast<std::int64_t>(health.dropped_newest));
    out_.raw(",\"overwritten\":").integer(static_cast<std::int64_t>(health.overwritten));
    out_.raw(",\"late_records\":").integer(static_cast<std::int64_t>(health.late_records));
    out_.raw(",\"lost_device_records\":")
        .integer(static_cast<std::int64_t>(health.lost_device_records));
    out_.raw(",\"write_error\":").integer(health.write_error);
    out_.raw(",\"warnings\":").integer(static_cast<std::int64_t>(health.warnings.size()));
    out_.raw(",\"left_out\":").integer(static_cast<std::int64_t>(totals_.left_out));
    out_.raw(health.finished ? ",\"finished\":true" : ",\"finished\":false");
}

/// Between two events. The first is the process's name, so there always is one before.
void chrome_events::separate() { out_.raw(",\n"); }

void chrome_events::name_process(process which, std::string_view name, int rank) {
    if (which != process::threads) separate();
    std::string text;
    append_json_string(text, name);
    const std::string_view head = heads_[static_cast<std::size_t>(which)];
    out_.raw(head)
        .raw("0,\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":")
        .raw(text)
        .raw("}}");
    separate();
    out_.raw(head).raw("0,\"ph\":\"M\",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":");
    out_.integer(rank).raw("}}");
}

void chrome_events::name_lane(const place& where, std::string_view name, std::uint32_t rank) {
    std::string text;
    append_json_string(text, name);
    const std::string_view head = heads_[static_cast<std::size_t>(where.in)];
    separate();
    out_.raw(head).integer(where.tid).raw(
        ",\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":");
    out_.raw(text).raw("}}");
    separate();
    out_.raw(head).integer(where.tid).raw(
        ",\"ph\":\"M\",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":");
    out_.integer(rank).raw("}}");
}

}  // namespace coroscope::analysis::render
