// SPDX-License-Identifier: Apache-2.0
#pragma once

// The outputs of coroscope check. Thread-safety: pure functions, safe on any thread.

#include <string>
#include <string_view>

#include <coroscope/analysis/findings.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Returns the findings as text: each with its place, two lines of explanation, evidence and
/// advice. The rules that could not run follow.
[[nodiscard]] COROSCOPE_API std::string findings_text(const trace& loaded, const findings& of);

/// Returns the findings as JSON. docs/reference/findings.md describes the members.
[[nodiscard]] COROSCOPE_API std::string findings_json(const trace& loaded, const findings& of);

/// Returns the findings as SARIF 2.1.0. `trace_path` names the trace; it may be empty.
[[nodiscard]] COROSCOPE_API std::string findings_sarif(const trace& loaded, const findings& of,
                                                       std::string_view trace_path);

/// Returns a rule as text: its meaning, its threshold, its needs, its advice and its limits.
[[nodiscard]] COROSCOPE_API std::string rule_text(const finding_rule& rule);

}  // namespace coroscope::analysis
