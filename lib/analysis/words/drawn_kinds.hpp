// SPDX-License-Identifier: Apache-2.0
#pragma once

// The categories of bars in an export, for writing it and for reading it back. A scope has the
// program's category. If that has the name of a kind, it is written as "scope,kind".

#include <array>
#include <string_view>

namespace coroscope::analysis::inline words {

/// Indexed by kind_of_bar.
inline constexpr std::array<std::string_view, 16> drawn_kinds{"slice",
                                                              "task",
                                                              "await",
                                                              "queued",
                                                              "flow",
                                                              "kernel",
                                                              "copy",
                                                              "set",
                                                              "runtime_call",
                                                              "driver_call",
                                                              "synchronization",
                                                              "overhead",
                                                              "thread_state",
                                                              "request_lane",
                                                              "path_segment",
                                                              "wait"};
inline constexpr std::string_view plain_scope = "scope";         ///< without a category
inline constexpr std::string_view request_category = "request";  ///< the same of a request
inline constexpr std::string_view scope_prefix = "scope,";

}  // namespace coroscope::analysis::inline words
