// SPDX-License-Identifier: Apache-2.0
#pragma once

// Databases of nvprof, by torch.autograd.profiler's rules (load_nvprof, parse_nvprof_trace).
//
// A marker is an event: a row of CUPTI_ACTIVITY_KIND_MARKER with a name begins it, one with the same id and
// name 0 ends it; one without an end is none. A kernel is a marker's where the runtime call that launched it
// lies strictly within the marker. Times are nanoseconds, which torch took for microseconds.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// A kernel that a marker encloses the launch of.
struct nvprof_kernel {
    std::string name;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int32_t device = -1;
    std::int64_t stream = -1;
    std::uint32_t correlation = 0;
};

struct nvprof_event {
    std::int64_t id = 0;
    std::string name;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::vector<nvprof_kernel> kernels;  ///< by launch; those of enclosed markers are among them
};

/// The markers by their start. A launch is cudaLaunch, cudaLaunchKernel, cudaLaunchKernelExC,
/// cudaLaunchCooperativeKernel or one of their per-thread variants (cbids 13, 211, 213, 214, 269, 270, 430, 431,
/// 505, 506). Fails where the file is no such database or is malformed, where a marker's id or a pair of marker
/// and launch occurs twice ("duplicate key: …"), and where another call launched a kernel.
COROSCOPE_API result<std::vector<nvprof_event>> parse_nvprof_trace(const std::string& path);

/// The same as a list with its tree: markers are operations, and each kernel belongs to the innermost of the
/// markers that have it, so that device times add up. Kernels of no marker are in it, too, with no parent; warnings
/// count them and the markers without an end.
COROSCOPE_API result<event_list> load_nvprof(const std::string& path);

}  // namespace coroscope::analysis
