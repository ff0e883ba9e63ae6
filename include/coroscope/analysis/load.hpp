// SPDX-License-Identifier: Apache-2.0
#pragma once

// From bytes to the model. The input is never trusted: what can be read is read, what is damaged is
// named in trace::health.warnings, and only a file that is no trace at all is a failure.

#include <string>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

/// Loads the native trace in the file `path`.
/// Fails where the file cannot be read, is no trace, is of a newer version, or memory runs out.
/// Thread-safe; calls are independent of each other.
COROSCOPE_API result<trace> load(const std::string& path);

/// Loads a trace from memory. The model keeps nothing of `bytes`.
COROSCOPE_API result<trace> load(const coroscope::trace::buffer& bytes);

}  // namespace coroscope::analysis
