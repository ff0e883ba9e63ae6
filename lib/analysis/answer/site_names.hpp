// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a place in the source is called in an answer.

#include <cstdint>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis {

/// The site's label, else its function; "unknown" where there is no site or it has neither.
inline std::string site_title(const trace& loaded, std::uint32_t site) {
    if (site >= loaded.sites.size()) return "unknown";
    const site_info& info = loaded.sites[site];
    if (!info.label.empty()) return info.label;
    return info.function.empty() ? "unknown" : info.function;
}

}  // namespace coroscope::analysis
