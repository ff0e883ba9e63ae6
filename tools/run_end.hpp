// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last lines that `run` prints of a program that a signal ended.

#include <cstdint>
#include <functional>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::tools {

/// "./service was ended by signal 11 (Segmentation fault)".
[[nodiscard]] std::string signal_line(const std::string& program, int signal);

/// The tasks that had not ended, by spawn site and state, in lines that end in a newline.
[[nodiscard]] std::string open_work(const analysis::trace& loaded);

/// Returns the path of the trace with the task of that index. The function is empty if there is
/// only one trace.
using trace_of_task = std::function<std::string(std::uint32_t)>;

/// Returns the scopes that had not ended, innermost first: a line for each thread, and a line for
/// each task with open scopes in its frame. Each line ends in a newline. Empty if there are none.
[[nodiscard]] std::string open_scopes(const analysis::trace& loaded,
                                      const trace_of_task& trace_of = {});

}  // namespace coroscope::tools
