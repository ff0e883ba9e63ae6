// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows that are not a loop's time: sizes, and the rates of whole traces. One measurement a process.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct once_result {
    double value = 0;
    std::optional<double> floor{};
    std::string note{};
};

struct once_row {
    const char* name;
    const char* unit;
    once_result (*measure)();
};

/// The rows of each source.
std::vector<once_row> frame_rows();
std::vector<once_row> recorded_rows();
std::vector<once_row> idle_rows();
std::vector<once_row> process_rows();
std::vector<once_row> switch_rows();
std::vector<once_row> analysis_rows();
std::vector<once_row> chrome_rows();
std::vector<once_row> pack_rows();
std::vector<once_row> task_load_rows();

}  // namespace bench
