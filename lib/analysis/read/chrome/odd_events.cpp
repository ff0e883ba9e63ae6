// SPDX-License-Identifier: Apache-2.0
#include "odd_events.hpp"

#include <algorithm>

#include "../../text/warnings.hpp"

namespace coroscope::analysis::inline chrome {

void odd_events::add(std::string_view why, std::uint64_t byte) {
    auto found = std::find_if(reasons_.begin(), reasons_.end(),
                              [why](const reason& each) { return each.why == why; });
    if (found == reasons_.end())
        found = reasons_.insert(found, {.why = std::string(why), .first_byte = byte});
    ++found->count;
}

failure odd_events::first() const { return {reasons_.front().why, reasons_.front().first_byte}; }

void odd_events::warn_of(std::vector<std::string>& warnings) const {
    for (const reason& each : reasons_)
        warn(warnings,
             "odd events, left out, the first at byte " + std::to_string(each.first_byte) + " (" +
                 each.why + ")",
             each.count);
}

}  // namespace coroscope::analysis::inline chrome
