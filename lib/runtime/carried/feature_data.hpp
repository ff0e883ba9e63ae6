// SPDX-License-Identifier: Apache-2.0
#pragma once

// The features of which a session has data. A session may be asked for features that need help of
// the program (lib/trace/program_features.hpp); its trace names those that got none.
//
// Threads: any.

#include <cstdint>

#include "../writer/session_table.hpp"

namespace coroscope::runtime::inline carried {

/// Returns whether the session into which this thread records was asked for one of the features. If
/// so, the session has data of them from now on: the caller must record some.
bool begins_data_of(std::uint64_t features) noexcept;

/// Leaves only `kept` among the session's features without data. The caller must keep the session's
/// store open.
void limit_without_data(session& owner, std::uint64_t kept) noexcept;

}  // namespace coroscope::runtime::inline carried
