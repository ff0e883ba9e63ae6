// SPDX-License-Identifier: Apache-2.0
#include "table_grouping.hpp"

#include <charconv>
#include <cstddef>
#include <string_view>

namespace coroscope::tools {
namespace {

using analysis::average_key;

constexpr std::string_view attribute_prefix = "attr:";
constexpr std::string_view stack_prefix = "stack:";

bool read_frames(std::string_view digits, std::size_t& frames) {
    const char* const begin = digits.data();
    const char* const end = begin + digits.size();
    const auto [stopped, error] = std::from_chars(begin, end, frames);
    return error == std::errc() && stopped == end && frames != 0;
}

bool read_trace_key(std::string_view part, table_grouping& into) {
    if (part.starts_with(attribute_prefix) && part.size() > attribute_prefix.size()) {
        into.key = average_key::attribute;
        into.attribute = part.substr(attribute_prefix.size());
    } else if (part == "line") {
        into.key = average_key::source_line;
    } else if (part == "task") {
        into.key = average_key::task;
    } else {
        return false;
    }
    into.needs_trace = true;
    return true;
}

bool read_event_key(std::string_view part, table_grouping& into) {
    if (part == "shapes") {
        into.events.by_input_shape = true;
    } else if (part == "overload") {
        into.events.by_overload_name = true;
    } else if (part.starts_with(stack_prefix)) {
        if (!read_frames(part.substr(stack_prefix.size()), into.events.stack_frames)) return false;
    } else if (part != "node") {  // the node is always part of torch's key
        return false;
    }
    into.needs_events = true;
    return true;
}

/// Returns false if a part is unknown, or two exclude each other.
bool read(std::string_view asked, table_grouping& into) {
    if (asked == "name" || read_trace_key(asked, into)) return true;
    while (true) {
        const std::string_view part = asked.substr(0, asked.find(','));
        if (part == "thread") {
            into.key = average_key::thread;
            into.events.by_thread = true;
        } else if (!read_event_key(part, into)) {
            return false;
        }
        if (part.size() == asked.size()) return true;
        asked.remove_prefix(part.size() + 1);
    }
}

}  // namespace

std::string grouping_names() {
    return "name, line, task, attr:KEY,\nor one or more of thread, shapes, stack:N, overload, "
           "node, "
           "separated by commas";
}

std::string check_grouping(const std::string& asked) {
    table_grouping ignored;
    if (read(asked, ignored)) return {};
    return "cannot group by \"" + asked +
           "\"; use one of name, line, attr:KEY, task, thread, shapes, stack:N, overload, node";
}

table_grouping parse_grouping(const std::string& asked) {
    table_grouping found;
    read(asked, found);
    return found;
}

}  // namespace coroscope::tools
