// SPDX-License-Identifier: Apache-2.0
#pragma once

// A session's options about the sampling of requests.

#include <coroscope/profile.hpp>
#include <coroscope/trace/format.hpp>

#include "../store/budget_settings.hpp"
#include "../writer/session_table.hpp"

namespace coroscope::runtime::inline sessions {

/// Sets the sampling of a session that is about to start, and its helper's settings. Must be called
/// before the helper starts.
void prepare_sampling(session& slot, const profile_options& options,
                      budget_settings& budget) noexcept;

/// Writes the interval and the budget into the trace's header.
void describe_sampling(trace::file_header& header, const profile_options& options) noexcept;

}  // namespace coroscope::runtime::inline sessions
