// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings scopes from the order in which they ended into the model's: by start ascending, then end
// descending, then position in the stream descending.

#include <cstdint>
#include <vector>

#include "scope_records.hpp"

namespace coroscope::analysis::inline scopes {

/// Reorders positions of stack scopes. Linear if they nest, as calls do; else a sort.
void put_in_order(std::vector<std::uint32_t>& positions, stack_decoder decoder);

void put_in_order(std::vector<other_scope>& scopes);

}  // namespace coroscope::analysis::inline scopes
