// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "readings.hpp"

namespace coroscope::tools {

/// Reads /proc and /sys below `root`, makes the attempts, and asks the process for its limits.
/// Writes nothing and needs no rights. Takes milliseconds, and at most a second if an attempt does
/// not return. The process must have one thread.
[[nodiscard]] machine_readings read_machine(const std::string& root);

/// The parts of it that are files.
[[nodiscard]] privilege_readings read_privileges(const std::string& root);
[[nodiscard]] clock_readings read_clock(const std::string& root);

}  // namespace coroscope::tools
