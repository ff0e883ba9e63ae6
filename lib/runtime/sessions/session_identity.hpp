// SPDX-License-Identifier: Apache-2.0
#pragma once

// The session's identity in its trace's header.

#include <coroscope/profile.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline sessions {

/// Returns the features that the options and the environment ask for, as trace::session_features.
std::uint64_t asked_for(const profile_options& options) noexcept;

/// Returns the value of trace::file_header::without_data at the session's start.
std::uint64_t without_data_at_first(const profile_options& options) noexcept;

/// Makes each session of the process ask for these features, too. Must be called before the first
/// session starts.
void ask_for_in_all_sessions(std::uint64_t features) noexcept;

struct trace_name {
    char text[sizeof(trace::file_header::trace_id)] = {};
};

/// Returns the trace id that the program chose, else a random one. The caller must not hold a lock:
/// the program's callback may fork or start a session.
trace_name name_trace(const profile_options& options) noexcept;

/// Fills in process, session, trace id and node, and the requested features.
void identify(trace::file_header& header, const profile_options& options,
              const trace_name& name) noexcept;

}  // namespace coroscope::runtime::inline sessions
