// SPDX-License-Identifier: Apache-2.0
#pragma once

// The export for Chrome's trace viewers as a text, and the contents of its document.

#include <coroscope/analysis/chrome.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/json.hpp"

namespace coroscope_tests {

namespace analysis = coroscope::analysis;

using texts = std::vector<std::string>;

inline std::string exported(const analysis::trace& from,
                            analysis::chrome_totals* totals = nullptr) {
    std::string text;
    const auto done = analysis::export_chrome(from, [&text](std::string_view more) {
        text += more;
        return true;
    });
    REQUIRE(done.has_value());
    if (totals != nullptr) *totals = *done;
    return text;
}

struct shown {
    long long start;
    long long end;
};

/// The complete events by (pid, tid), in file order.
inline std::map<std::pair<long long, long long>, std::vector<shown>>
lanes_of(const json& document) {
    std::map<std::pair<long long, long long>, std::vector<shown>> lanes;
    for (const json& each : document["traceEvents"].elements) {
        if (each["ph"].text != "X") continue;
        const long long start = each["ts"].nanoseconds();
        lanes[{each["pid"].integer(), each["tid"].integer()}].push_back(
            {start, start + each["dur"].nanoseconds()});
    }
    return lanes;
}

/// The number of pairs of complete events on one lane that overlap without nesting.
inline int count_overlaps(const json& document) {
    int overlaps = 0;
    for (const auto& [where, events] : lanes_of(document)) {
        for (std::size_t left = 0; left < events.size(); ++left) {
            for (std::size_t right = 0; right < left; ++right) {
                const shown& first =
                    events[left].start <= events[right].start ? events[left] : events[right];
                const shown& second =
                    events[left].start <= events[right].start ? events[right] : events[left];
                const bool apart = second.start >= first.end;
                const bool nested = second.end <= first.end ||
                                    (first.start == second.start && first.end <= second.end);
                if (!apart && !nested) ++overlaps;
            }
        }
    }
    return overlaps;
}

inline std::vector<const json*> named(const json& document, const std::string& name) {
    std::vector<const json*> found;
    for (const json& each : document["traceEvents"].elements) {
        if (each["name"].text == name) found.push_back(&each);
    }
    return found;
}

}  // namespace coroscope_tests
