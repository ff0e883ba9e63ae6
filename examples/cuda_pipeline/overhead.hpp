// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch costs: without a profiler, with CUPTI's records enabled and discarded, and under Coroscope. Each is
// measured in a process of its own, because CUPTI stays what it was made; the processes take turns.

#include <string_view>

namespace cuda_pipeline {

/// Who watches while launches are measured.
enum class watcher { nobody, cupti, coroscope };

/// In this process: prints the median of nanoseconds per launch. Throws where CUDA or CUPTI fails.
void measure_launches(watcher with);

/// Runs `program --measure WATCHER` for each, in turns, and prints a Markdown table of the medians. False where one fails.
bool compare_overheads(const char* program, int rounds);

/// "none", "cupti" or "coroscope".
bool parse(std::string_view name, watcher& found);

}  // namespace cuda_pipeline
