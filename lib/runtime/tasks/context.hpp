// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

/// Records that scopes belong to this context from here on. `flags`: trace::context_restored if the
/// context from before an earlier such record goes on.
void record_context(const resumer& next, std::uint64_t previous, std::uint32_t flags = 0) noexcept;

}  // namespace coroscope::detail
