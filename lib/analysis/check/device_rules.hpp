// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about devices.

#include <string>
#include <vector>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

[[nodiscard]] std::string lacks_devices(const check_input& input);
/// As above, and returns the missing facts, too, if work of a device may be missing.
[[nodiscard]] std::string lacks_device_waits(const check_input& input);

/// A device runs nothing while tasks wait for it.
void find_idle_devices(rule_context& context, std::vector<finding>& to);
/// A thread of an executor waits in a call for a device.
void find_device_blocks(rule_context& context, std::vector<finding>& to);

}  // namespace coroscope::analysis::inline checks
