// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes rows from readings of the machine. Pure functions.

#include "fact.hpp"
#include "readings.hpp"

namespace coroscope::tools {

/// All rows about the machine, in their order.
[[nodiscard]] facts judge_machine(const machine_readings& read);

}  // namespace coroscope::tools
