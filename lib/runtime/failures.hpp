// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the edges of the process need of anomaly detection (anomaly.cpp).

namespace coroscope::runtime {

/// Turns detection on until the process ends, with messages on stderr.
void detect_anomalies_for_good() noexcept;

/// Around a fork: the child finds the locks free.
void lock_failures() noexcept;
void unlock_failures() noexcept;

}  // namespace coroscope::runtime
