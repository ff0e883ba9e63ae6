// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a session tells of itself in its trace's header.

#include <coroscope/profile.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::runtime {

/// What the options ask for, as trace::session_features.
std::uint64_t asked_for(const profile_options& options) noexcept;

struct trace_name {
    char text[sizeof(trace::file_header::trace_id)] = {};
};

/// The trace's id as the program chose it, else a random one. Calls the program, which may fork or ask for another
/// session: to be called without a lock.
trace_name name_trace(const profile_options& options) noexcept;

/// Fills in process, session, trace id and node, and what was asked for.
void identify(trace::file_header& header, const profile_options& options,
              const trace_name& name) noexcept;

}  // namespace coroscope::runtime
