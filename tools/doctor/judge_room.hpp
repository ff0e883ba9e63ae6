// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the rows about the room for traces and rings: memory, files, limits. Pure functions.

#include "fact.hpp"
#include "readings.hpp"

namespace coroscope::tools {

[[nodiscard]] fact judge_memory(const container_readings& read);
[[nodiscard]] fact judge_processors(const container_readings& read);
[[nodiscard]] fact judge_folder(const tried<folder_trial>& trial, const std::string& folder);
[[nodiscard]] fact judge_descriptors(const limit_readings& read, std::int64_t processors);
[[nodiscard]] fact judge_locked_memory(const machine_readings& read);

}  // namespace coroscope::tools
