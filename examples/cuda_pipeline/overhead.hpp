// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cost of a launch: without a profiler, with CUPTI's records enabled and discarded, and under
// Coroscope. Each is measured in a process of its own, because CUPTI's state cannot be reset. The
// processes take turns.

#include <string_view>

namespace cuda_pipeline {

/// The profiler that is active while launches are measured.
enum class watcher { nobody, cupti, coroscope };

/// Measures in this process: prints the median of nanoseconds per launch. Throws if CUDA or CUPTI
/// fails.
void measure_launches(watcher with);

/// Runs `program --measure WATCHER` for each watcher, in turns, and prints a Markdown table of the
/// medians. Returns false if a run fails.
bool compare_overheads(const char* program, int rounds);

/// "none", "cupti" or "coroscope".
bool parse(std::string_view name, watcher& found);

}  // namespace cuda_pipeline
