// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the rows about the times and the waits of threads. Pure functions.

#include <string>

#include "fact.hpp"
#include "readings.hpp"

namespace coroscope::tools {

[[nodiscard]] fact judge_switches(const tried<switch_trial>& trial,
                                  const privilege_readings& privileges);
/// Returns the fact, restricted if the process has a seccomp filter. A filter may end the process
/// for an unusual call, so the recorder makes such calls only if it is asked to.
[[nodiscard]] fact under_filter(fact judged, const privilege_readings& privileges);
[[nodiscard]] fact judge_sums(const tried<thread_trial>& trial);
[[nodiscard]] fact judge_calls(const tried<thread_trial>& trial);
[[nodiscard]] fact judge_holders(const machine_readings& read);

/// Returns the reason if the attempt did not come to its end, else an empty text.
[[nodiscard]] std::string why_not_tried(const child_end& end);

/// Returns the system's text for an errno.
[[nodiscard]] std::string error_text(int error);

}  // namespace coroscope::tools
