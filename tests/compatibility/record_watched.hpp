// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace coroscope::test {

/// Records a session of this program with requests, values, named executors, waits for a mutex and
/// the states of threads. The kernel must report context switches.
void record_watched(const std::string& file);

}  // namespace coroscope::test
