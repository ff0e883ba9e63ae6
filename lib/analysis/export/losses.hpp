// SPDX-License-Identifier: Apache-2.0
#pragma once

// The losses that a picture of a trace must show.

#include <array>
#include <cstdint>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/trace_health.hpp>

namespace coroscope::analysis::inline exports {

struct loss {
    std::string_view name;
    std::int64_t count;
};

[[nodiscard]] inline std::array<loss, 10> losses_of(const trace_health& health,
                                                    const chrome_totals& totals) {
    const auto count = [](auto value) { return static_cast<std::int64_t>(value); };
    return {loss{"dropped_newest", count(health.dropped_newest)},
            loss{"overwritten", count(health.overwritten)},
            loss{"late_records", count(health.late_records)},
            loss{"lost_device_records", count(health.lost_device_records)},
            loss{"damaged_chunks", count(health.damaged_chunks)},
            loss{"attributes_without_room", count(health.attributes_without_room)},
            loss{"places_without_room", count(health.places_without_room)},
            loss{"write_error", count(health.write_error)},
            loss{"warnings", count(health.warnings.size())},
            loss{"left_out", count(totals.left_out)}};
}

}  // namespace coroscope::analysis::inline exports
