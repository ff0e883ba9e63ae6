// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time of a task in a request that is left out. In the trace it is a suspension at a site of
// kind request.

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

/// Returns whether the await is the time of a request that is left out, and not an await of an
/// operation. Such an await has no wake and no outcome. The task may have run in it.
[[nodiscard]] inline bool is_left_out(const trace& loaded, const await_info& await) noexcept {
    return await.site < loaded.sites.size() &&
           loaded.sites[await.site].kind ==
               static_cast<std::uint8_t>(coroscope::trace::site_kind::request);
}

}  // namespace coroscope::analysis::inline model
