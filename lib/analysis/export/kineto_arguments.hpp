// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of an event under Kineto's names.

#include <string>

#include <coroscope/analysis/function_event.hpp>

namespace coroscope::analysis::inline exports {

/// Appends `"args":{…}`, or nothing if the event has none.
void append_kineto_arguments(std::string& out, const function_event& event);

/// Appends `,"key":value` for each member of the event in its file that event_list has no field
/// for.
void append_members(std::string& out, const function_event& event);

/// Appends `"pid":1,"tid":7` with the ids of the lane. If there is no such lane, the ids are ones
/// that no lane has.
void append_lane(std::string& out, const event_list& events, std::uint32_t thread);

/// Returns the category that readers of Kineto's traces expect for the event.
[[nodiscard]] std::string_view kineto_category(const function_event& event);

}  // namespace coroscope::analysis::inline exports
