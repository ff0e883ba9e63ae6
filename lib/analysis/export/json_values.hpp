// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes texts of an event_list into JSON. Some texts should be JSON themselves (shapes, types).
// They may come from untrusted files, so they are checked first.

#include <string>
#include <string_view>

namespace coroscope::analysis::inline exports {

/// Returns `text` unchanged if it is a JSON array or object, else as a JSON string.
void append_json(std::string& out, std::string_view text);

/// Returns whether `text` is a JSON object.
[[nodiscard]] bool is_object(std::string_view text);

/// Returns an id's text as a number if it is one, else as a JSON string.
void append_id(std::string& out, std::string_view text);

}  // namespace coroscope::analysis::inline exports
