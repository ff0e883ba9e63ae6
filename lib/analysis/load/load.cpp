// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/load.hpp>

#include "../warnings.hpp"
#include "attributes.hpp"
#include "clock_map.hpp"
#include "deadline.hpp"
#include "device_links.hpp"
#include "device_ranges.hpp"
#include "event_tree.hpp"
#include "fold_jobs.hpp"
#include "load_native.hpp"
#include "memory_records.hpp"
#include "names_from_scopes.hpp"
#include "notes.hpp"
#include "open_ranges.hpp"
#include "scope_records.hpp"
#include "scope_texts.hpp"
#include "stream_items.hpp"
#include "symbols.hpp"
#include "task_history.hpp"
#include "task_records.hpp"
#include "thread_timeline.hpp"
#include <algorithm>
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

// How far behind the last clock point a record may be dated before it must be damage. A recording
// process takes a point every second.
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
    loaded.file_bytes = input.size();
    loaded.packed_bytes = input.packed_size();
    loaded.all_threads = header.all_threads != 0;
    loaded.trace_id.assign(header.trace_id, strnlen(header.trace_id, sizeof(header.trace_id)));
    loaded.node_id = static_cast<std::int64_t>(header.node - 1);
    loaded.asked_for = header.asked_for;
}

loading::clock_map make_clock(const reader& input, const loading::symbols& names, trace& loaded) {
    std::vector<coroscope::trace::clock_point> points{input.header().start};
    points.insert(points.end(), names.clock_points().begin(), names.clock_points().end());
    points.push_back(input.header().last);
    loading::clock_map clock(std::move(points));
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

void diagnose(const reader& input, const loading::symbols& names, const loading::clock_map& clock,
              trace& loaded) {
    const file_header& header = input.header();
    trace_health& health = loaded.health;
    health.finished = header.finished != 0;
    health.dropped_newest = header.lost_records;
    health.late_records = header.late_records;
    health.tasks_without_slot = header.tasks_without_slot;
    health.write_error = static_cast<int>(header.write_error);
    health.asio = static_cast<coroscope::trace::asio_tracking>(header.asio);
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

// What other threads do makes tasks ready, too, and is not in such a trace. In one of every thread it is timers and the
// like, which no other session would see either.
void count_unseen_wakes(trace& loaded) {
    if (loaded.all_threads) return;
    loaded.health.unseen_wakes = static_cast<std::uint64_t>(
        std::ranges::count_if(loaded.awaits, [](const await_info& await) {
            return await.resume_ns.has_value() && !await.wake_ns.has_value();
        }));
}

void warn_of_unknown(const loading::symbols& names, const loading::task_records& records,
                     trace& loaded) {
    std::vector<std::string>& warnings = loaded.health.warnings;
    const std::ptrdiff_t unknown_threads =
        std::ranges::count_if(records.streams, [&names](const loading::thread_stream& each) {
            return !names.describes_thread(each.thread);
        });
    warn(warnings, "sites that records name and the trace does not describe",
         static_cast<std::uint64_t>(names.unknown_sites()));
    warn(warnings, "threads that have records and the trace does not describe",
         static_cast<std::uint64_t>(unknown_threads));
    warn(warnings, "devices that records name and the trace does not describe",
         static_cast<std::uint64_t>(names.unknown_devices()));
}

void note_timeout(const loading::deadline& until, trace& loaded) {
    if (!until.has_passed()) return;
    loaded.health.partial = true;
    std::string seconds = std::to_string(until.timeout_s());
    loaded.health.warnings.push_back("post-processing took longer than " + seconds +
                                     " s and was stopped, results are partial; events read: " +
                                     std::to_string(loaded.events.size()));
}

trace load_from(const reader& input, loading::deadline& until) {
    trace loaded;
    loaded.health.warnings = input.warnings();
    describe(input, loaded);
    loading::symbols names(input, loaded);
    loading::clock_map clock = make_clock(input, names, loaded);
    diagnose(input, names, clock, loaded);

    loading::task_records records = loading::read_task_records(input, names, clock, until, loaded);
    loaded.duration_ns = std::max(clock.last_point_ns(), records.last_ns);
    clock.set_limit_ns(loaded.duration_ns);
    loading::fold_jobs(records, loaded);
    std::vector<loading::timeline> timelines;
    const std::vector<loading::first_run> first = loading::find_first_runs(records, loaded);
    for (std::size_t stream = 0; stream < records.streams.size(); ++stream)
        timelines.push_back(loading::build_timeline(records.streams[stream], records.ops,
                                                    first[stream], records.first_folded,
                                                    loaded.duration_ns, loaded));
    const loading::task_histories histories(records, timelines, loaded);

    loading::scope_texts texts(records);
    loading::scope_notes notes(records.notes);
    const loading::scope_context context{records, histories, names, clock, notes, loaded};
    std::vector<loading::stream_scopes> scopes;
    for (std::size_t stream = 0; stream < records.streams.size(); ++stream)
        scopes.push_back(
            loading::read_scopes(records.streams[stream], timelines[stream], texts, context));
    loading::add_open_ranges(texts, timelines, context, scopes);
    loading::read_streams(texts, timelines, context);
    loading::read_device_ranges(texts, timelines, context);
    loaded.took.parse_ns = until.elapsed_ns();
    loading::build_events({records.streams, timelines, scopes, texts, notes}, names, clock, until,
                          loaded);
    loaded.took.tree_build_ns = until.elapsed_ns() - loaded.took.parse_ns;
    note_timeout(until, loaded);
    loading::order_memory_and_modules(loaded);
    loading::attach_attributes(records, loaded);
    loading::take_names_from_scopes(loaded);
    loading::link_devices(records, names, clock, loaded);
    count_unseen_wakes(loaded);
    warn_of_unknown(names, records, loaded);
    return loaded;
}

result<trace> load_guarded(const result<reader>& input, const trace_load_options& options) {
    if (options.post_processing_timeout_s && !(*options.post_processing_timeout_s >= 0))
        return failure{"post_processing_timeout_s must not be negative"};
    if (!input) return input.error();
    try {
        loading::deadline until(options.post_processing_timeout_s);
        return load_from(*input, until);
    } catch (const std::exception&) {  // the standard library's: no memory, or no room for a size
        return failure{"does not fit into memory"};
    }
}

}  // namespace

result<trace> loading::load_native(reading::opened_file file, const trace_load_options& options) {
    if (!file.path.empty()) return load_guarded(reader::open(file.path), options);
    try {
        const auto bytes = reading::trace_bytes(std::move(file));
        return bytes ? load(*bytes, options) : bytes.error();
    } catch (const std::exception&) {
        return failure{"does not fit into memory"};
    }
}

result<trace> load(const std::string& path, const trace_load_options& options) {
    auto file = reading::open_content(path);
    if (!file) return file.error();
    return loading::load_native(std::move(*file), options);
}

result<trace> load(const coroscope::trace::buffer& bytes, const trace_load_options& options) {
    return load_guarded(reader::open(bytes), options);
}

}  // namespace coroscope::analysis
