// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs hostile_program as a child process, with the shared library or with a copy of it.

#include <string>
#include <string_view>
#include <vector>

#include "../support/program_runs.hpp"

namespace coroscope::test {

// A sanitizer's runtime must come before every other library, reserves more memory than a limit
// allows, and calls clocks itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

inline program_end run(const std::vector<std::string>& words, const variables& environment = {}) {
    return run_program(words, environment, HOSTILE_PROGRAM);
}
inline program_end run_static(const std::vector<std::string>& words,
                              const variables& environment = {}) {
    return run_program(words, environment, STATIC_PROGRAM);
}

inline bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace coroscope::test
