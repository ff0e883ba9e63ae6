// SPDX-License-Identifier: Apache-2.0
#pragma once

// The error type of the analysis is that of the trace library, on which the analysis is built.

#include <coroscope/trace/result.hpp>

namespace coroscope::analysis {

using coroscope::trace::failure;
using coroscope::trace::result;

}  // namespace coroscope::analysis
