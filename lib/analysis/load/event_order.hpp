// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings scopes from the order in which they ended into the model's: by start ascending, then end
// descending, then position in the stream descending.

#include <cstdint>
#include <span>
#include <vector>

#include "scope_records.hpp"

namespace coroscope::analysis::loading {

/// The indices of `scopes` in the model's order. Linear where they nest, as calls do; else a sort.
std::vector<std::uint32_t> order_of(std::span<const stack_scope> scopes);
std::vector<std::uint32_t> order_of(std::span<const long_scope> scopes);

}  // namespace coroscope::analysis::loading
