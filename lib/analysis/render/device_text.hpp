// SPDX-License-Identifier: Apache-2.0
#pragma once

// What devices did, in words.

#include <string>

#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::render {

/// "3 kernels 1.2 ms (longest gemm_kernel 0.9 ms), 1 copy 0.1 ms"; empty where nothing ran.
[[nodiscard]] std::string work_text(const trace& from, const device_work& work);

/// "stream 7: 3 kernels …, queued on the device 0.05 ms": what was waited for; empty where it was no stream. Says where
/// that is not known, or not all.
[[nodiscard]] std::string wait_text(const trace& from, const device_work& work,
                                    const optional_ns& queued_ns);

}  // namespace coroscope::analysis::render
