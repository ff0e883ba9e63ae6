// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../store/chunk_store.hpp"

namespace coroscope::runtime::inline sessions {

/// Describes the modules that are loaded now, so that addresses can be named afterwards.
void describe_modules(chunk_store& store) noexcept;

}  // namespace coroscope::runtime::inline sessions
