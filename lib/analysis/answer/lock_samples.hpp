// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

/// Returns the waits for locks that the looks at blocked threads show, if a look found the holder.
/// A wait is as long as the looks prove. Waits in trace::lock_waits are left out.
[[nodiscard]] std::vector<lock_wait> sampled_lock_waits(const trace& loaded);

}  // namespace coroscope::analysis::inline answers
