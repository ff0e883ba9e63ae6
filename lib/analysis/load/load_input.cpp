// SPDX-License-Identifier: Apache-2.0
#include "load_input.hpp"

#include "../model/left_out.hpp"
#include "../model/wake_knowledge.hpp"
#include "../text/warnings.hpp"
#include "blocking_calls.hpp"
#include "build_thread_states.hpp"
#include "devices/device_links.hpp"
#include "devices/device_ranges.hpp"
#include "devices/stream_items.hpp"
#include "idle_waits.hpp"
#include "lock_waits.hpp"
#include "noticed_wakes.hpp"
#include "records/attributes.hpp"
#include "records/clock_map.hpp"
#include "records/deadline.hpp"
#include "records/metadata.hpp"
#include "records/notes.hpp"
#include "records/read_memory.hpp"
#include "records/task_records.hpp"
#include "requests.hpp"
#include "resource_waits.hpp"
#include "scopes/event_tree.hpp"
#include "scopes/names_from_scopes.hpp"
#include "scopes/needed_scopes.hpp"
#include "scopes/open_ranges.hpp"
#include "scopes/open_scopes.hpp"
#include "scopes/scope_records.hpp"
#include "scopes/scope_texts.hpp"
#include "tasks/fold_jobs.hpp"
#include "tasks/task_history.hpp"
#include "tasks/thread_timeline.hpp"
#include <algorithm>
#include <coroscope/analysis/select_part.hpp>
#include <coroscope/trace/reader.hpp>
#include <cstring>
#include <exception>
#include <utility>

namespace coroscope::analysis {
namespace {

using coroscope::trace::clock_source;
using coroscope::trace::device_recording;
using coroscope::trace::file_header;
using coroscope::trace::overflow_policy;
using coroscope::trace::reader;

// A record that is dated this long after the last clock point must be damaged: a recording process
// takes a point every second.
constexpr std::int64_t clock_slack_ns = 60'000'000'000;

std::string clock_name(clock_source source) {
    switch (source) {
        case clock_source::tsc: return "tsc";
        case clock_source::cntvct: return "cntvct";
        case clock_source::monotonic_ns: return "monotonic";
    }
    return "unknown";
}

std::string policy_name(overflow_policy policy) {
    switch (policy) {
        case overflow_policy::drop_newest: return "drop newest";
        case overflow_policy::overwrite_oldest: return "overwrite oldest";
        case overflow_policy::wait: return "wait";
    }
    return "unknown";
}

void describe(const reader& input, trace& loaded) {
    const file_header& header = input.header();
    loaded.process_name.assign(header.process_name,
                               strnlen(header.process_name, sizeof(header.process_name)));
    loaded.process_id = header.process_id;
    loaded.clock = clock_name(header.clock);
    loaded.policy = policy_name(header.policy);
    loaded.start_realtime_ns = header.start.realtime_ns;
    loaded.start_monotonic_ns = header.start.monotonic_ns;
    loaded.file_bytes = input.size();
    loaded.packed_bytes = input.packed_size();
    loaded.all_threads = header.all_threads != 0;
    loaded.trace_id.assign(header.trace_id, strnlen(header.trace_id, sizeof(header.trace_id)));
    loaded.node_id = static_cast<std::int64_t>(header.node - 1);
    loaded.asked_for = header.asked_for;
    loaded.limit_bytes = header.limit_bytes;
    loaded.container_bytes = header.container_bytes;
    loaded.sampling.interval = std::max(header.request_interval, 1U);
    loaded.sampling.least_interval = std::max(header.least_interval, 1U);
    loaded.sampling.budget_ppm = header.budget_ppm;
    loaded.sampling.cost_ppm = header.cost_ppm;
    loaded.sampling.changes = header.interval_changes;
    loaded.categories.assign(header.categories,
                             strnlen(header.categories, sizeof(header.categories)));
}

clock_map make_clock(const reader& input, const metadata& names, trace& loaded) {
    std::vector<coroscope::trace::clock_point> points{input.header().start};
    points.insert(points.end(), names.clock_points().begin(), names.clock_points().end());
    points.push_back(input.header().last);
    clock_map clock(std::move(points));
    if (clock.calibrated()) {
        clock.set_limit_ns(clock.last_point_ns() + clock_slack_ns);
    } else if (input.header().clock != clock_source::monotonic_ns) {
        loaded.health.warnings.push_back("the clock was read only once: times are in ticks");
    }
    constexpr double cost_unit = 256;
    loaded.scope_cost_ns = clock.span_ns(input.header().scope_cost_ticks) / cost_unit;
    loaded.await_cost_ns = clock.span_ns(input.header().await_cost_ticks) / cost_unit;
    return clock;
}

void diagnose(const reader& input, const metadata& names, const clock_map& clock, trace& loaded) {
    const file_header& header = input.header();
    trace_health& health = loaded.health;
    health.finished = header.finished != 0;
    health.open_scopes_unknown = (header.asked_for & coroscope::trace::feature_open_scopes) == 0;
    health.dropped_newest = header.lost_records;
    health.late_records = header.late_records;
    health.tasks_without_slot = header.tasks_without_slot;
    health.unnamed_scopes = header.unnamed_scopes;
    health.without_data = header.without_data & header.asked_for;
    health.with_data = header.asked_for & ~header.without_data;
    health.write_error = static_cast<int>(header.write_error);
    health.asio = static_cast<coroscope::trace::asio_tracking>(header.asio);
    health.asio_version = header.asio_version;
    health.boost_asio_version = header.boost_asio_version;
    if (header.devices <= static_cast<std::uint64_t>(device_recording::not_recorded))
        health.devices = static_cast<device_recording>(header.devices);
    health.device_message.assign(header.device_message,
                                 strnlen(header.device_message, sizeof(header.device_message)));
    health.lost_device_records = header.lost_device_records;
    if (header.crash_signal != 0)
        health.crash_report.assign(header.crash_report,
                                   strnlen(header.crash_report, sizeof(header.crash_report)));
    health.damaged_chunks = input.damaged_chunks();
    for (std::size_t index = 0; index < loaded.threads.size(); ++index) {
        thread_info& thread = loaded.threads[index];
        health.dropped_newest += thread.dropped_newest;
        health.overwritten += thread.overwritten;
        thread.waited_ns = clock.whole_span_ns(names.waited_ticks()[index]);
    }
}

// A trace of some threads lacks the wakes by other threads. In a trace of all threads the only
// unseen wakes are those by timers and the like, which no session sees.
void count_unseen_wakes(trace& loaded) {
    if (loaded.all_threads) return;
    loaded.health.unseen_wakes = static_cast<std::uint64_t>(
        std::ranges::count_if(loaded.awaits, [&loaded](const await_info& await) {
            return await.resume_ns.has_value() && !is_left_out(loaded, await) &&
                   knowledge_of_wake(loaded, await) == wake_knowledge::unseen;
        }));
}

void warn_of_unknown(const metadata& names, const task_records& records, trace& loaded) {
    std::vector<std::string>& warnings = loaded.health.warnings;
    const std::ptrdiff_t unknown_threads =
        std::ranges::count_if(records.streams, [&names](const thread_stream& each) {
            return !names.describes_thread(each.thread);
        });
    warn(warnings, "sites that records name and the trace does not describe",
         static_cast<std::uint64_t>(names.unknown_sites()));
    warn(warnings, "threads that have records and the trace does not describe",
         static_cast<std::uint64_t>(unknown_threads));
    warn(warnings, "executors that records name and the trace does not describe",
         static_cast<std::uint64_t>(
             std::ranges::count(loaded.executors, false, &executor_info::described)));
    warn(warnings, "devices that records name and the trace does not describe",
         static_cast<std::uint64_t>(names.unknown_devices()));
}

void note_timeout(const deadline& until, trace& loaded) {
    if (!until.has_passed()) return;
    loaded.health.partial = true;
    std::string seconds = std::to_string(until.timeout_s());
    loaded.health.warnings.push_back("post-processing took longer than " + seconds +
                                     " s and was stopped, results are partial; events read: " +
                                     std::to_string(loaded.events.size()));
}

std::vector<timeline> build_timelines(task_records& records, const trace& loaded) {
    std::vector<timeline> timelines;
    const first_runs first(records, loaded);
    for (std::size_t stream = 0; stream < records.streams.size(); ++stream)
        timelines.push_back(build_timeline(records, stream, first, loaded));
    return timelines;
}

stack_positions positions_of(const load_plan& plan) {
    return plan.visit == nullptr && plan.scopes == scopes_to_load::all ? stack_positions::kept
                                                                       : stack_positions::left_out;
}

trace load_from(const reader& input, const load_plan& plan, deadline& until) {
    trace loaded;
    loaded.health.warnings = input.warnings();
    describe(input, loaded);
    metadata names(input, loaded);
    clock_map clock = make_clock(input, names, loaded);
    diagnose(input, names, clock, loaded);

    task_records records =
        read_task_records(input, names, clock, until, positions_of(plan), loaded);
    loaded.duration_ns = std::max(clock.last_point_ns(), records.last_ns);
    clock.set_limit_ns(loaded.duration_ns);
    fold_jobs(records, loaded);
    std::vector<timeline> timelines = build_timelines(records, loaded);
    const task_histories histories(records, timelines, loaded);
    if (plan.visit == nullptr && plan.scopes != scopes_to_load::all && records.has_scopes())
        find_needed_scopes(records, timelines, clock, plan.jobs, names, loaded);
    if (!has_attributes(records)) records.ops.clear();

    scope_texts texts(records);
    scope_notes notes(records.notes);
    const scope_context context{records, histories, names, clock, notes, loaded};
    std::vector<stream_scopes> scopes;
    for (std::size_t stream = 0; stream < records.streams.size(); ++stream)
        scopes.push_back(read_scopes(records.streams[stream], timelines[stream], texts, context));
    add_open_ranges(texts, timelines, context, scopes);
    add_open_scopes(texts, timelines, context, scopes);
    read_streams(texts, timelines, context);
    read_device_ranges(texts, timelines, context);
    loaded.took.parse_ns = until.elapsed_ns();
    build_events({records.streams, timelines, scopes, texts, notes, histories}, names, clock,
                 plan.jobs, until, loaded);
    loaded.took.tree_build_ns = until.elapsed_ns() - loaded.took.parse_ns;
    note_timeout(until, loaded);
    order_memory_and_modules(loaded);
    attach_attributes(records, names, loaded);
    take_names_from_scopes(loaded);
    link_devices(records, names, clock, loaded);
    loading::link_resource_waits(records, names, loaded);
    loading::link_requests(records, texts, names, loaded);
    build_thread_states(input, records, names, clock, loaded);
    mark_noticed_wakes(loaded);
    forget_tasks_before_idle_time(histories.presumed(), loaded);
    link_blocking_calls(records, loaded);
    link_lock_waits(records, names, clock, loaded);
    count_unseen_wakes(loaded);
    warn_of_unknown(names, records, loaded);
    if (plan.visit != nullptr) (*plan.visit)({records, timelines, histories, names, clock, loaded});
    return loaded;
}

/// Scopes that cross a border of a part are cut, which needs all of them.
load_plan whole_plan(load_plan plan) {
    plan.scopes = scopes_to_load::all;
    return plan;
}

}  // namespace

bool loading::is_part_of_trace(const reader& input) noexcept {
    return input.header().part_end_ns > 0;
}

result<trace> loading::load_input(const reader& input, const load_plan& plan,
                                  const std::optional<double>& timeout_s) {
    if (timeout_s && !(*timeout_s >= 0))
        return failure{"post_processing_timeout_s must not be negative"};
    try {
        deadline until(timeout_s);
        const bool is_part = is_part_of_trace(input);
        if (is_part && plan.visit != nullptr) return failure{"is a part of a trace"};
        trace loaded = load_from(input, is_part ? whole_plan(plan) : plan, until);
        if (!is_part) return loaded;
        const file_header& header = input.header();
        return select_part(std::move(loaded), {header.part_from_ns, header.part_end_ns - 1});
    } catch (const std::exception&) {  // the standard library's: no memory, or no room for a size
        return failure{"does not fit into memory"};
    }
}

}  // namespace coroscope::analysis
