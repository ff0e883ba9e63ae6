// SPDX-License-Identifier: Apache-2.0
#pragma once

// Databases of nvprof, by torch.autograd.profiler's rules (load_nvprof, parse_nvprof_trace).
//
// A marker becomes an event. A row of CUPTI_ACTIVITY_KIND_MARKER with a name begins it, and a row
// with the same id and name 0 ends it; a marker without an end is ignored. A kernel belongs to a
// marker if its launching runtime call lies strictly within the marker. Times are nanoseconds;
// torch treated them as microseconds.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// A kernel whose launch is enclosed by a marker.
struct nvprof_kernel {
    std::string name;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int32_t device = -1;
    std::int64_t stream = -1;
    std::uint32_t correlation = 0;
};

/// One marker, with the kernels that were launched in it.
struct nvprof_event {
    std::int64_t id = 0;
    std::string name;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::vector<nvprof_kernel> kernels;  ///< by launch; includes those of enclosed markers
};

/// Returns the markers by their start. A launch is cudaLaunch, cudaLaunchKernel,
/// cudaLaunchKernelExC, cudaLaunchCooperativeKernel or one of their per-thread variants (cbids 13,
/// 211, 213, 214, 269, 270, 430, 431, 505, 506).
///
/// Fails if the file is not such a database or is malformed, if a marker's id or a pair of marker
/// and launch occurs twice ("duplicate key: …"), or if another call launched a kernel.
COROSCOPE_API result<std::vector<nvprof_event>> parse_nvprof_trace(const std::string& path);

/// As above, as a list with its tree. Markers are operations. Each kernel belongs to the innermost
/// of its markers, so device times add up. Kernels without a marker are in the list, too, without a
/// parent. Warnings count these kernels and the markers without an end.
COROSCOPE_API result<event_list> load_nvprof(const std::string& path);

}  // namespace coroscope::analysis
