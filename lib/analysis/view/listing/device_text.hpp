// SPDX-License-Identifier: Apache-2.0
#pragma once

// Device activities in words.

#include <string>

#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline listings {

/// "3 kernels 1.2 ms (longest gemm_kernel 0.9 ms), 1 copy 0.1 ms"; empty if nothing ran.
[[nodiscard]] std::string work_text(const trace& from, const device_work& work);

/// Describes the work that was waited for: "stream 7: 3 kernels …, queued on the device 0.05 ms".
/// Empty if nothing waited for a stream. The text says if the work is unknown or known only in
/// part.
[[nodiscard]] std::string wait_text(const trace& from, const device_work& work,
                                    const optional_ns& queued_ns);

}  // namespace coroscope::analysis::inline listings
