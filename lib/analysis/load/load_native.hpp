// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/load.hpp>

#include "../read/opened_file.hpp"

namespace coroscope::analysis::loading {

/// load(path) of a file that was opened to see what it is. Fails where it is no native trace.
[[nodiscard]] result<trace> load_native(reading::opened_file file,
                                        const trace_load_options& options = {});

}  // namespace coroscope::analysis::loading
