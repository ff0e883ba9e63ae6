// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts of an event_list inside JSON. Those that are JSON themselves (shapes, types) come from anywhere, so
// they are checked before they are believed.

#include <string>
#include <string_view>

namespace coroscope::analysis::exporting {

/// `text` as it stands where it is an array or an object, else as a JSON string.
void append_json(std::string& out, std::string_view text);

/// An id's text as a number where it is one, else as a JSON string.
void append_id(std::string& out, std::string_view text);

}  // namespace coroscope::analysis::exporting
