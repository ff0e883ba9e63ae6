// SPDX-License-Identifier: Apache-2.0
#include "health.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include <coroscope/analysis/fold_tasks.hpp>
#include <coroscope/analysis/units.hpp>

#include "../../trace/program_features.hpp"
#include "../text/utf8.hpp"

namespace coroscope::analysis::inline words {
namespace {

std::string_view asio_text(coroscope::trace::asio_tracking state) {
    switch (state) {
        case coroscope::trace::asio_tracking::missing: return "missing";
        case coroscope::trace::asio_tracking::mixed: return "mixed";
        case coroscope::trace::asio_tracking::untried: return "untried version";
        case coroscope::trace::asio_tracking::unrecognised: return "unrecognised";
        case coroscope::trace::asio_tracking::in_order: return "in order";
    }
    return "unknown";
}

std::string version_text(std::uint32_t version) {
    return fmt::format("{}.{}.{}", version / 100000, version / 100 % 1000, version % 100);
}

void add_asio_notes(std::vector<std::string>& notes, const trace_health& health) {
    using coroscope::trace::asio_tracking;
    const std::string versions = asio_versions(health);
    const std::string name = versions.empty() ? "Asio" : versions;
    switch (health.asio) {
        case asio_tracking::in_order: return;
        case asio_tracking::missing:
            notes.emplace_back("Asio is used and not tracked: its operations are not here");
            return;
        case asio_tracking::mixed:
            notes.emplace_back("Asio is tracked in parts of the program only: operations may be "
                               "missing, and its objects differ between translation units");
            return;
        case asio_tracking::untried:
            notes.push_back(name + " is a version that the program's Coroscope was not tried "
                                   "with: the records of its tasks may be incomplete");
            return;
        case asio_tracking::unrecognised:
            notes.push_back(name +
                            " ended a co_spawn in a way that the program's Coroscope does "
                            "not know: the awaiter of a co_spawn may be waiting without a wake");
            return;
    }
    notes.push_back(fmt::format("{}: the state of its tracking, {}, is unknown to this version",
                                name, static_cast<std::uint64_t>(health.asio)));
}

/// Returns the message without a full stop at its end.
std::string message_of(const trace_health& health) {
    std::string_view message = health.device_message;
    if (message.ends_with('.')) message.remove_suffix(1);
    return printable(message);
}

std::string lost_records(const trace_health& health) {
    std::string text;
    const auto add = [&text](std::uint64_t count, std::string_view reason) {
        if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, reason);
    };
    add(health.dropped_newest, "dropped (no free chunk)");
    add(health.overwritten, "overwritten");
    add(health.late_records, "in flight at the stop");
    return text;
}

// Names the folded tasks and their times. The suspended time of a folded task is part of its
// awaiter's suspended time. So are its other times, which only this line shows separately.
std::string folded_text(const trace_health& health) {
    std::string by;
    bool of_libraries = false;
    for (const std::string& each : health.folded_by) {
        by += (by.empty() ? "" : ", ") + printable(each);
        of_libraries =
            of_libraries || std::ranges::any_of(known_library_coroutines(), [&](const auto& known) {
                return known.library == each;
            });
    }
    return fmt::format("Folded tasks of {}: {}, {} running, {} queued, {} waiting{}", by,
                       health.folded_tasks, format_span(health.folded_running_ns),
                       format_span(health.folded_queued_ns), format_span(health.folded_waiting_ns),
                       of_libraries ? "; --fold none shows those of libraries" : "");
}

void add_lines(std::vector<std::string>& notes, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        notes.push_back(printable(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// Adds notes about a session that did not end. A scope is recorded when it ends, so the number of
// open scopes is unknown unless the session names open scopes.
void add_end_notes(std::vector<std::string>& notes, const trace_health& health) {
    if (health.finished) return;
    if (health.being_recorded) {
        notes.push_back(
            fmt::format("The session still records: {}later records are not in this view",
                        health.open_scopes_unknown ? "open scopes and " : ""));
        return;
    }
    notes.emplace_back("The process ended before the session was stopped");
    if (health.open_scopes_unknown)
        notes.emplace_back("Scopes that were open when it ended: unknown");
}

/// "Part: 1.20s to 1.70s of 60.0s; …", for a stretch.
std::string stretch_text(const trace_part& part) {
    std::string cut;
    const auto add = [&cut](std::uint64_t count, std::string_view thing) {
        if (count != 0)
            cut += fmt::format("{}{} {}{}", cut.empty() ? "" : ", ", count, thing,
                               count == 1 ? "" : "s");
    };
    add(part.cut_scopes, "scope");
    add(part.cut_tasks, "task");
    add(part.cut_requests, "request");
    return fmt::format(
        "Part: {} to {} of {}; times count from its start{}", format_short_time(part.from_ns),
        format_short_time(part.to_ns), format_short_time(part.whole_ns),
        cut.empty()
            ? ""
            : fmt::format(". {} cross its border: they count once, with their time in it", cut));
}

void add_part_notes(std::vector<std::string>& notes, const trace_health& health) {
    const trace_part& part = health.part;
    if (part.is_stretch) notes.push_back(stretch_text(part));
    if (part.where.empty()) return;
    const std::string where = printable(part.where);
    if (part.requests_only)
        notes.push_back(fmt::format("Only requests that meet {}; blame names any work", where));
    else
        notes.push_back(fmt::format("Only work that meets {}, and the work below it", where));
}

std::string_view name_of(const coroscope::trace::program_feature& feature) {
    return coroscope::trace::row_of(feature.asked_by).recorded;
}

/// Calls `take` for each feature that was asked for and has no data.
template <class Take>
void for_each_without_data(const trace_health& health, const Take& take) {
    for (const auto& each : coroscope::trace::program_features)
        if ((health.without_data & each.feature) != 0) take(each);
}

void write_without_data(json_writer& json, const trace_health& health) {
    json.key("without_data").begin_array();
    for_each_without_data(health, [&](const auto& each) { json.string(name_of(each)); });
    json.end();
}

void write_part(json_writer& json, const trace_part& part) {
    json.key("part").begin_object();
    if (part.is_stretch) {
        json.member("from_ns", part.from_ns);
        json.member("to_ns", part.to_ns);
        json.member("whole_ns", part.whole_ns);
        json.member("cut_scopes", part.cut_scopes);
        json.member("cut_tasks", part.cut_tasks);
        json.member("cut_requests", part.cut_requests);
    }
    if (!part.where.empty()) {
        json.member("where", part.where);
        json.member("requests_only", part.requests_only);
    }
    json.end();
}

}  // namespace

std::string asio_versions(const trace_health& health) {
    std::string text;
    if (health.asio_version != 0) text = "Asio " + version_text(health.asio_version);
    if (health.boost_asio_version != 0)
        text += fmt::format("{}Boost's Asio {}", text.empty() ? "" : ", ",
                            version_text(health.boost_asio_version));
    return text;
}

std::vector<std::string> health_notes(const trace_health& health) {
    std::vector<std::string> notes;
    add_part_notes(notes, health);
    if (health.lost_records()) notes.push_back("Lost records: " + lost_records(health));
    if (health.lost_device_records != 0) {
        notes.push_back(fmt::format("Lost records of devices: {}", health.lost_device_records));
    }
    if (health.folded_tasks != 0) notes.push_back(folded_text(health));
    if (health.left_out_requests != 0)
        notes.push_back(fmt::format("Requests left out by sampling: {}; the scopes, awaits and "
                                    "tasks below them are not in the trace",
                                    health.left_out_requests));
    for_each_without_data(health, [&](const auto& each) {
        notes.push_back(fmt::format("Asked for {}: {}", name_of(each), each.without_it));
    });
    if (health.tasks_without_slot != 0) {
        notes.push_back(fmt::format("Live tasks that the task table had no room for: {}",
                                    health.tasks_without_slot));
    }
    if (health.open_scopes != 0) {
        notes.push_back(
            fmt::format("Scopes that had not ended when the session did: {}", health.open_scopes));
    }
    if (health.unnamed_scopes != 0) {
        notes.push_back(
            fmt::format("Scopes that could not have been named if they had not ended: {}",
                        health.unnamed_scopes));
    }
    if (health.open_ranges != 0) {
        notes.push_back(
            fmt::format("Ranges that had not ended when the session did: {}", health.open_ranges));
    }
    if (health.unseen_wakes != 0) {
        notes.push_back(fmt::format(
            "Wakes unseen: {}, their time is waiting; the session did not record every thread",
            health.unseen_wakes));
    }
    if (health.attributes_without_room != 0)
        notes.push_back(
            fmt::format("Attributes that had no room: {}, unknown in the scopes that carry them",
                        health.attributes_without_room));
    if (health.places_without_room != 0)
        notes.push_back(
            fmt::format("Awaits, spawns and ranges without a name, for want of room: at least {}",
                        health.places_without_room));
    if (health.cut_texts != 0)
        notes.push_back(fmt::format("Texts that were cut or left out: {}", health.cut_texts));
    if (health.write_error != 0) {
        const std::string reason = health.write_error == EBADF
                                       ? "the program closed its file's descriptor"
                                       : std::generic_category().message(health.write_error);
        notes.push_back(fmt::format("The trace stopped growing: {}", reason));
    }
    add_asio_notes(notes, health);
    add_end_notes(notes, health);
    add_lines(notes, health.crash_report);
    if (health.damaged_chunks != 0) {
        notes.push_back(fmt::format("Damaged or missing chunks: {}", health.damaged_chunks));
    }
    if (!health.warnings.empty()) {
        // "Damage" would be wrong: an event without an end, for example, is kept.
        notes.push_back(fmt::format("{} while reading: {} (first: {})",
                                    health.damaged_chunks != 0 ? "Damage found" : "Warnings",
                                    health.warnings.size(), printable(health.warnings.front())));
    }
    return notes;
}

std::string device_note(const trace_health& health) {
    using coroscope::trace::device_recording;
    const std::string message = message_of(health);
    if (health.devices == device_recording::not_recorded)
        return fmt::format("Devices were not recorded: {}.",
                           message.empty() ? "the trace does not say why" : message);
    if (health.devices != device_recording::recorded) return {};
    std::string missing = message;
    if (health.lost_device_records != 0)
        missing += fmt::format("{}lost records: {}", message.empty() ? "" : "; ",
                               health.lost_device_records);
    return missing.empty() ? missing
                           : fmt::format("Devices were not wholly recorded: {}.", missing);
}

std::string_view device_state(const trace_health& health) noexcept {
    switch (health.devices) {
        case coroscope::trace::device_recording::recorded: return "recorded";
        case coroscope::trace::device_recording::not_recorded: return "not recorded";
        case coroscope::trace::device_recording::not_asked: break;
    }
    return "not asked for";
}

std::string health_text(const trace_health& health) {
    std::string text;
    for (const std::string& note : health_notes(health)) text += note + '\n';
    return text;
}

void write_health(json_writer& json, const trace_health& health) {
    json.key("health").begin_object();
    json.member("finished", health.finished);
    json.member("being_recorded", health.being_recorded);
    json.member("dropped_newest", health.dropped_newest);
    json.member("overwritten", health.overwritten);
    json.member("late_records", health.late_records);
    json.member("tasks_without_slot", health.tasks_without_slot);
    json.member("folded_tasks", health.folded_tasks);
    json.member("folded_running_ns", health.folded_running_ns);
    json.member("folded_queued_ns", health.folded_queued_ns);
    json.member("folded_waiting_ns", health.folded_waiting_ns);
    json.member("left_out_requests", health.left_out_requests);
    json.member("open_ranges", health.open_ranges);
    json.member("open_scopes", health.open_scopes);
    json.member("unnamed_scopes", health.unnamed_scopes);
    json.member("unseen_wakes", health.unseen_wakes);
    write_without_data(json, health);
    json.member("cut_texts", health.cut_texts);
    json.member("attributes_without_room", health.attributes_without_room);
    json.member("places_without_room", health.places_without_room);
    json.member("damaged_chunks", health.damaged_chunks);
    json.member("devices", device_state(health));
    json.member("device_message", health.device_message);
    json.member("lost_device_records", health.lost_device_records);
    json.member("write_error", health.write_error);
    json.member("crash_report", health.crash_report);
    json.member("asio_tracking", asio_text(health.asio));
    json.member("asio_version", asio_versions(health));
    json.key("warnings").begin_array();
    for (const std::string& warning : health.warnings) json.string(warning);
    json.end();
    if (health.part.any()) write_part(json, health.part);
    json.end();
}

}  // namespace coroscope::analysis::inline words
