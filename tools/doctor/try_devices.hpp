// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "readings.hpp"

namespace coroscope::tools {

/// Opens the libraries of NVIDIA's driver and of CUPTI, in the recorder's order. Initialises
/// neither.
void try_devices(device_trial& found);

}  // namespace coroscope::tools
