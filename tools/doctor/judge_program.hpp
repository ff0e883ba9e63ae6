// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes rows from readings of a program's file. Pure functions.

#include "fact.hpp"
#include "readings.hpp"

namespace coroscope::tools {

/// All rows about the program, in their order. If it is not a program of this machine, one row.
[[nodiscard]] facts judge_program(const program_readings& read);

}  // namespace coroscope::tools
