// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions of translation units that are built with other switches than the rest of the program.

#include <cstddef>
#include <stdexcept>

namespace coroscope::test {

/// Built with COROSCOPE_CATEGORIES="net" and COROSCOPE_MAX_LEVEL=2.
void run_categories();
int category_arguments_evaluated();

/// Built with COROSCOPE_ENABLED=0.
int disabled_arguments_evaluated();
int disabled_coroutines();
int disabled_ranges();
int disabled_executor();
int disabled_foreign();
/// The number of results that are not destroyed if an exception leaves a task after its co_return.
int disabled_results_left();

/// Frame sizes of the same coroutine: with scopes of a compiled-out category and without scopes,
/// and with all macros under COROSCOPE_ENABLED=0 and without macros.
struct frame_sizes {
    std::size_t with;
    std::size_t without;
};
frame_sizes category_frames();
frame_sizes disabled_frames();

}  // namespace coroscope::test
