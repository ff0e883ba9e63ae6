// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options of the readers of foreign traces (load_events.hpp).

namespace coroscope::analysis {

struct load_options {
    bool keep_arguments = false;  ///< arguments that no field has go to event_extra::metadata
    bool accept_nan = false;      ///< read NaN and Infinity, which JSON does not have, in arguments
    bool strict = false;          ///< fail at the first odd event of a Chrome trace
    unsigned jobs = 0;            ///< of native traces: as in trace_load_options
};

}  // namespace coroscope::analysis
