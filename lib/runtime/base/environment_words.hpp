// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads environment variables. A program that gained privileges has no variables.
//
// Threads: any.

#include "../../trace/environment_variables.hpp"

namespace coroscope::runtime::inline base {

/// The variable's value; null if it is not set or empty.
const char* value_of(trace::variable which) noexcept;

/// Returns the position of the variable's value among its words. Returns -1 if it has no value or
/// any other value; such a value is reported on stderr, once.
int word_of(trace::variable which) noexcept;

/// Returns whether the variable is 1. Its words must be 1 and 0.
inline bool is_switched_on(trace::variable which) noexcept { return word_of(which) == 0; }

/// Reports on stderr, once, that the variable has an invalid value.
void report_value(trace::variable which, const char* value) noexcept;

}  // namespace coroscope::runtime::inline base
