// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of requests.

#include <string>

#include "places.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

/// Returns the type of a request; for a guessed request that is a whole task, the task's name.
inline std::string request_name(const trace& loaded, const request_info& request) {
    return request.name < loaded.strings.size() ? loaded.strings[request.name]
                                                : site_name(loaded, request.site);
}

}  // namespace coroscope::analysis::inline words
