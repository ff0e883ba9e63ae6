// SPDX-License-Identifier: Apache-2.0
#pragma once

// The results of a session's start and stop.

#include <cstdint>

#include <coroscope/trace/buffer.hpp>

namespace coroscope::runtime::inline sessions {

struct start_result {
    std::uint32_t generation = 0;  ///< 0: refused
    const char* message = "";
    int error_number = 0;
};

struct stop_result {
    trace::buffer trace;  ///< the trace of a session in memory
    int error_number =
        0;  ///< ENOMEM: that could not be handed over, and is lost. ESTALE: the file was cut
    const char* message = "";        ///< error message
    std::uint64_t lost_records = 0;  ///< as in session_status, to the very end
    std::uint64_t late_records = 0;  ///< that came after the session's end
    std::uint64_t without_data = 0;  ///< trace::session_features: see trace::file_header
};

}  // namespace coroscope::runtime::inline sessions
