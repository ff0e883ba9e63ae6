// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <sstream>

namespace http_service {

std::string statistics::to_text() const {
    std::ostringstream text;
    text << "connections " << connections << "\nrequests " << requests << "\ncache_hits "
         << cache_hits << "\ncache_misses " << cache_misses << "\ncache_evictions "
         << cache_evictions;
    const std::lock_guard lock{mutex_};
    text << "\nfailures " << failures_ << "\nlast_failure " << last_failure_ << '\n';
    return text.str();
}

}  // namespace http_service
