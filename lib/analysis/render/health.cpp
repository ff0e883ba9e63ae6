// SPDX-License-Identifier: Apache-2.0
#include "health.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "utf8.hpp"

namespace coroscope::analysis::render {
namespace {

std::string_view asio_text(coroscope::trace::asio_tracking state) {
    switch (state) {
        case coroscope::trace::asio_tracking::missing: return "missing";
        case coroscope::trace::asio_tracking::mixed: return "mixed";
        default: return "in order";
    }
}

/// Without the full stop that some messages end with.
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

void add_lines(std::vector<std::string>& notes, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        notes.push_back(printable(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

std::vector<std::string> health_notes(const trace_health& health) {
    std::vector<std::string> notes;
    if (health.lost_records()) notes.push_back("Lost records: " + lost_records(health));
    if (health.lost_device_records != 0) {
        notes.push_back(fmt::format("Lost records of devices: {}", health.lost_device_records));
    }
    if (health.tasks_without_slot != 0) {
        notes.push_back(fmt::format("Live tasks that the task table had no room for: {}",
                                    health.tasks_without_slot));
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
    if (health.cut_texts != 0)
        notes.push_back(fmt::format("Texts that were cut or left out: {}", health.cut_texts));
    if (health.write_error != 0) {
        const std::string reason = health.write_error == EBADF
                                       ? "the program closed its file's descriptor"
                                       : std::generic_category().message(health.write_error);
        notes.push_back(fmt::format("The trace stopped growing: {}", reason));
    }
    if (health.asio == coroscope::trace::asio_tracking::missing)
        notes.emplace_back("Asio is used and not tracked: its operations are not here");
    if (health.asio == coroscope::trace::asio_tracking::mixed)
        notes.emplace_back("Asio is tracked in parts of the program only: operations may be "
                           "missing, and its objects "
                           "differ between translation units");
    if (!health.finished) notes.emplace_back("The process ended before the session was stopped");
    add_lines(notes, health.crash_report);
    if (health.damaged_chunks != 0) {
        notes.push_back(fmt::format("Damaged chunks, left out: {}", health.damaged_chunks));
    }
    if (!health.warnings.empty()) {
        // Of what is merely odd, as an event without an end, nothing had to be left out.
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
    json.member("dropped_newest", health.dropped_newest);
    json.member("overwritten", health.overwritten);
    json.member("late_records", health.late_records);
    json.member("tasks_without_slot", health.tasks_without_slot);
    json.member("open_ranges", health.open_ranges);
    json.member("unseen_wakes", health.unseen_wakes);
    json.member("cut_texts", health.cut_texts);
    json.member("damaged_chunks", health.damaged_chunks);
    json.member("devices", device_state(health));
    json.member("device_message", health.device_message);
    json.member("lost_device_records", health.lost_device_records);
    json.member("write_error", health.write_error);
    json.member("crash_report", health.crash_report);
    json.member("asio_tracking", asio_text(health.asio));
    json.key("warnings").begin_array();
    for (const std::string& warning : health.warnings) json.string(warning);
    json.end().end();
}

}  // namespace coroscope::analysis::render
