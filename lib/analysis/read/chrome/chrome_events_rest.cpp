// SPDX-License-Identifier: Apache-2.0

// The parts of a Chrome trace's events that have no field in a row, kept as JSON for an export.

#include <string>
#include <utility>

#include "../../text/json_tokens.hpp"
#include "../../text/number_text.hpp"
#include "chrome_events.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

void append_argument(std::string& members, std::string_view key, std::string_view token) {
    if (token.empty()) return;
    if (!members.empty()) members += ", ";
    members.append("\"").append(key).append("\": ");
    members += token.front() == '{' || token.front() == '[' ? one_line(token) : std::string(token);
}

bool is_whole_number(std::string_view token) {
    return integer<std::int64_t>(unquoted(token)).has_value();
}

/// Returns the arguments for which the row has no field, as "key": value, ….
std::string rest_of(const chrome_fields& event, const event_row& row) {
    const chrome_arguments& arguments = event.arguments;
    std::string members = event.others;
    append_argument(members, "name", arguments.name);
    for (const auto& [key, token] : recorded_times_of(arguments))
        append_argument(members, key, token);
    append_argument(members, "Addr", arguments.address);
    append_argument(members, "Bytes", arguments.bytes);
    append_argument(members, "Total Allocated", arguments.total_allocated);
    append_argument(members, "Total Reserved", arguments.total_reserved);
    append_argument(members, "Device Type", arguments.device_type);
    append_argument(members, "Device Id", arguments.device_id);
    const bool on_device = row.device != device_kind::cpu;
    if (!on_device || !is_whole_number(arguments.device))
        append_argument(members, "device", arguments.device);
    if (!on_device || !is_whole_number(arguments.stream))
        append_argument(members, "stream", arguments.stream);
    if (!id_number(unquoted(arguments.external_id)))
        append_argument(members, "External id", arguments.external_id);
    if (!integer<std::uint32_t>(unquoted(arguments.correlation)))
        append_argument(members, "correlation", arguments.correlation);
    return members;
}

}  // namespace

/// Keeps the members for which the row has no field. The beginning and the end of an event may both
/// have such members.
void chrome_events::keep_rest(const chrome_fields& event, event_row& row) {
    if (event.has_arguments) {
        const std::string rest = rest_of(event, row);
        if (!rest.empty()) {
            std::uint32_t& kept = extra_of(row).metadata;
            std::string object = kept == none ? "{" : std::string(list_.text(kept));
            if (kept != none) object.replace(object.size() - 1, 1, ", ");
            kept = list_.intern(object.append(rest).append("}"));
        }
    }
    if (!event.members.empty() && extra_of(row).members == none)
        extra_of(row).members = list_.intern(event.members);
}

bool chrome_events::keep_metadata(const chrome_fields& event) {
    if (!keep_ || !is_string(event.name) || event.others.empty()) return true;
    event_metadata& kept = list_.metadata.emplace_back();
    kept.name = names_.text(event.name);
    kept.thread = names_.lane(event.process, event.thread);
    kept.arguments = list_.intern("{" + event.others + "}");
    return true;
}

}  // namespace coroscope::analysis::inline chrome
