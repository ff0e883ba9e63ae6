// SPDX-License-Identifier: Apache-2.0

// A critical path as text and as JSON.

#include <coroscope/analysis/views.hpp>

#include <array>
#include <utility>
#include <vector>

#include <coroscope/analysis/device_statistics.hpp>
#include <fmt/format.h>

#include "../../text/json_writer.hpp"
#include "../../text/utf8.hpp"
#include "../../words/path_words.hpp"
#include "../../words/places.hpp"
#include "../listing/device_text.hpp"
#include "../listing/list_path.hpp"
#include "../listing/listing.hpp"
#include "../listing/moments.hpp"
#include "json_place.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::size_t kinds = static_cast<std::size_t>(path_kind::unknown) + 1;

std::string subject_of(const trace& loaded, const critical_path& path) {
    const std::string name =
        path.event == none ? std::string() : loaded.strings[loaded.events[path.event].name];
    std::string subject = path.request == 0 ? "" : fmt::format("request {}, ", path.request);
    subject += printable(name);
    if (path.task == none) return subject;
    return subject + (name.empty() ? "task " : " in task ") + task_title(loaded, path.task);
}

/// "1.2 ms on-CPU + 3.4 ms queued", the kinds that occur, in their order.
std::string sums_text(const critical_path& path) {
    std::array<std::int64_t, kinds> sums{};
    for (const path_segment& each : path.segments)
        sums[static_cast<std::size_t>(each.kind)] += each.length_ns();
    std::string text;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        if (sums[kind] == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : " + ", format_span(sums[kind]),
                            name_of(static_cast<path_kind>(kind)));
    }
    return text;
}

json_writer& write_task(json_writer& json, const trace& loaded, std::uint32_t task) {
    json.key("task");
    return task < loaded.tasks.size() ? json.integer(loaded.tasks[task].id) : json.null();
}

json_writer& write_thread(json_writer& json, const trace& loaded, std::uint32_t thread) {
    json.key("thread");
    return thread < loaded.threads.size() ? json.integer(loaded.threads[thread].id) : json.null();
}

void write_blame(json_writer& json, const trace& loaded, const critical_path& path,
                 const path_segment& segment) {
    json.key("blame").begin_array(json_writer::layout::compact);
    for (const std::uint32_t index : segment.blame) {
        const path_blame& each = path.blame[index];
        json.begin_object(json_writer::layout::compact);
        write_task(json, loaded, each.task);
        json.key("label");
        if (each.event != none)
            json.string(loaded.strings[loaded.events[each.event].name]);
        else if (each.task < loaded.tasks.size())
            json.string(site_name(loaded, loaded.tasks[each.task].spawn_site));
        else
            json.null();
        write_thread(json, loaded, each.thread).member("ns", each.time_ns);
        json.member("charged_ns", each.charged_ns);
        json.end();
    }
    json.end();
}

// Writes the index of the wait around a segment or a wait, or null.
void write_through(json_writer& json, std::uint32_t through) {
    json.key("through");
    if (through == none)
        json.null();
    else
        json.integer(through);
}

// Writes the device work for which a segment waited; nothing if it waited for none.
void write_device(json_writer& json, const trace& loaded, const device_coverage& devices,
                  const path_segment& segment) {
    if (segment.kind != path_kind::suspended && segment.kind != path_kind::waiting) return;
    if (segment.await == none) return;
    const std::string waited_for = wait_text(loaded, awaited_work(loaded, segment.await), {});
    if (waited_for.empty()) return;
    const device_share share = devices.of(segment.await);
    json.key("device").begin_object(json_writer::layout::compact);
    json.member("waited_for", waited_for);
    json.key("device_ns");
    if (share.waits == 0)
        json.null();
    else
        json.integer(share.covered_ns);
    json.key("device_queued_ns");
    if (share.queued_ns)
        json.integer(*share.queued_ns);
    else
        json.null();
    json.end();
}

void write_segment(json_writer& json, const trace& loaded, const critical_path& path,
                   const device_coverage& devices, const path_segment& segment) {
    json.begin_object(json_writer::layout::compact);
    json.member("kind", name_of(segment.kind));
    json.member("label", segment_label(loaded, segment));
    write_place(json, loaded, segment_site(loaded, segment));
    write_task(json, loaded, segment.task);
    write_thread(json, loaded, segment.thread);
    json.member("start_ns", segment.start_ns).member("ns", segment.length_ns());
    write_blame(json, loaded, path, segment);
    write_through(json, segment.through);
    write_device(json, loaded, devices, segment);
    json.end();
}

void write_wait(json_writer& json, const trace& loaded, const path_wait& wait) {
    const path_segment as_segment = segment_of(wait);
    json.begin_object(json_writer::layout::compact);
    json.member("kind", name_of(wait.kind)).member("edge", name_of_edge(wait.edge));
    json.member("label", segment_label(loaded, as_segment));
    write_place(json, loaded, segment_site(loaded, as_segment));
    write_task(json, loaded, wait.task);
    write_thread(json, loaded, wait.thread);
    json.member("start_ns", wait.start_ns).member("ns", as_segment.length_ns());
    json.key("resource");
    if (wait.resource < loaded.resource_waits.size())
        json.string(site_name(loaded, loaded.resource_waits[wait.resource].site));
    else
        json.null();
    write_through(json, wait.through);
    json.end();
}

}  // namespace

std::string path_text(const trace& loaded, const critical_path& path,
                      const listing_options& options) {
    const listing all = list_path_runs(loaded, path);
    const moment_format moments(moments_of(all), options.unit);
    std::string text =
        fmt::format("critical path of {}, from {} on\n{} = {}\n", subject_of(loaded, path),
                    moments.text(path.start_ns), format_span(path.wall_ns()), sums_text(path));
    text.append("\n").append(to_text(list_path_parts(loaded, path), options));
    const auto chosen = arranged(all, {.sort_by = options.sort_by, .row_limit = options.row_limit});
    const listing& segments = chosen ? *chosen : all;
    text.append("\n").append(to_text(segments, options));
    if (segments.rows.size() < all.rows.size())
        text += fmt::format("{} of {} rows; --limit -1 shows all\n", segments.rows.size(),
                            all.rows.size());
    return text;
}

std::string path_json(const trace& loaded, const critical_path& path) {
    json_writer json;
    json.begin_object();
    json.key("name");
    if (path.event != none)
        json.string(loaded.strings[loaded.events[path.event].name]);
    else
        json.string(site_name(loaded, loaded.tasks[path.task].spawn_site));
    write_task(json, loaded, path.task);
    json.key("request");
    if (path.request == 0)
        json.null();
    else
        json.integer(path.request);
    json.member("start_ns", path.start_ns).member("wall_ns", path.wall_ns());
    json.key("segments").begin_array();
    const device_coverage devices(loaded);
    for (const path_segment& each : path.segments) write_segment(json, loaded, path, devices, each);
    json.end();
    json.key("waits").begin_array();
    for (const path_wait& each : path.waits) write_wait(json, loaded, each);
    json.end();
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
