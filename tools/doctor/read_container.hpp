// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "readings.hpp"

namespace coroscope::tools {

/// Reads the least memory limit and the least processor quota of the process's control groups and
/// those above them, of both versions. Leaves the numbers of processors alone.
[[nodiscard]] container_readings read_container(const std::string& root);

}  // namespace coroscope::tools
