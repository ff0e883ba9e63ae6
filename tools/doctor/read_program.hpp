// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <coroscope/analysis/result.hpp>

#include "readings.hpp"

namespace coroscope::tools {

/// Reads the file of a program and its rights for this user. Fails if the file cannot be read, or
/// is not a regular file.
[[nodiscard]] analysis::result<program_readings> read_program(const std::string& path);

}  // namespace coroscope::tools
