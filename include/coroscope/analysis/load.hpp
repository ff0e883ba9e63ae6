// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads the bytes of a trace into the model. The input is never trusted: loading keeps all readable
// parts, names the damaged ones in trace::health.warnings, and fails only if the file is not a
// trace at all.

#include <cstdint>
#include <optional>
#include <string>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

/// The scopes that load() puts into trace::events.
enum class scopes_to_load : std::uint8_t {
    all,
    /// Those in which a task was suspended, ranges, requests, and a few more: enough for answers
    /// about threads, tasks and awaits, which then are the same. thread_info::scopes_left_out has
    /// the number of the others. Needs memory for tasks and awaits, and little for scopes. Members
    /// that name a scope at a moment, except await_info::scope, may name one around it.
    around_awaits,
};

/// Options of load().
struct trace_load_options {
    /// Seconds after which reading stops. A warning then has the number of events that were read,
    /// and trace_health::partial is set. A negative value fails. None: no limit.
    std::optional<double> post_processing_timeout_s{};
    scopes_to_load scopes = scopes_to_load::all;
    /// Maximum number of threads that decode; 0: one for each processor that the process may use.
    /// The result does not depend on it.
    unsigned jobs = 0;
};

/// Loads the native trace in the file `path`, which may be compressed by gzip and may be a pipe.
/// Fails if the file cannot be read, is not a trace, has a newer version, or if memory runs out.
///
/// A regular file is mapped. If another process shortens it during the call, the system sends
/// SIGBUS. A caller that must survive this should read the file itself and load the bytes.
///
/// Thread-safe; calls are independent of each other.
COROSCOPE_API result<trace> load(const std::string& path, const trace_load_options& options = {});

/// Loads a trace from memory. The model keeps no reference to `bytes`.
COROSCOPE_API result<trace> load(const coroscope::trace::buffer& bytes,
                                 const trace_load_options& options = {});

}  // namespace coroscope::analysis
