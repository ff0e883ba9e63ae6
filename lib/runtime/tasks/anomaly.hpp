// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of anomaly detection (anomaly.cpp) for the process's start and end.

namespace coroscope::runtime::inline tasks {

/// Turns detection on until the process ends, with messages on stderr.
void detect_anomalies_for_good() noexcept;

}  // namespace coroscope::runtime::inline tasks
