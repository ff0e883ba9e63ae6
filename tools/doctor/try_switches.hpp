// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "readings.hpp"

namespace coroscope::tools {

/// Opens an event with context-switch records for the calling thread, maps its ring, sleeps, and
/// looks for a record. Closes everything.
void try_switches(switch_trial& found);

}  // namespace coroscope::tools
