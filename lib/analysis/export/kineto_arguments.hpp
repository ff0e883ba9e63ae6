// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of an event under Kineto's names.

#include <string>

#include <coroscope/analysis/function_event.hpp>

namespace coroscope::analysis::exporting {

/// `"args":{…}`, or nothing where the event has none. Appends.
void append_kineto_arguments(std::string& out, const function_event& event);

/// `"pid":1,"tid":7` of a lane; of no lane, ids that none has. Appends.
void append_lane(std::string& out, const event_list& events, std::uint32_t thread);

/// The category under which Kineto's readers know the event.
[[nodiscard]] std::string_view kineto_category(const function_event& event);

}  // namespace coroscope::analysis::exporting
