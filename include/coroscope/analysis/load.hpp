// SPDX-License-Identifier: Apache-2.0
#pragma once

// From bytes to the model. The input is never trusted: what can be read is read, what is damaged is
// named in trace::health.warnings, and only a file that is no trace at all is a failure.

#include <optional>
#include <string>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

struct trace_load_options {
    /// Seconds after which reading stops; a warning then says how many events were read, and
    /// trace_health::partial is set. Negative is a failure. None: however long it takes.
    std::optional<double> post_processing_timeout_s{};
};

/// Loads the native trace in the file `path`, which may be compressed by gzip, and may be a pipe.
/// Fails where the file cannot be read, is no trace, is of a newer version, or memory runs out.
/// A regular file is mapped: where somebody shortens it meanwhile the system sends SIGBUS. Who must survive that
/// reads the file and loads the bytes.
/// Thread-safe; calls are independent of each other.
COROSCOPE_API result<trace> load(const std::string& path, const trace_load_options& options = {});

/// Loads a trace from memory. The model keeps nothing of `bytes`.
COROSCOPE_API result<trace> load(const coroscope::trace::buffer& bytes,
                                 const trace_load_options& options = {});

}  // namespace coroscope::analysis
