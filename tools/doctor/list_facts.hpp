// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/analysis/listing.hpp>

#include "fact.hpp"

namespace coroscope::tools {

[[nodiscard]] analysis::listing list_facts(const facts& rows);

/// Returns whether an essential fact cannot be recorded.
[[nodiscard]] bool lacks_essential(const facts& rows);

}  // namespace coroscope::tools
