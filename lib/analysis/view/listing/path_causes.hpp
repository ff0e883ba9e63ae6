// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reasons for the segments of a critical path, as sentences.

#include <string>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/model.hpp>

#include "../../path/charged_work.hpp"
#include "blocking_text.hpp"

namespace coroscope::analysis::inline listings {

class path_causes {
public:
    /// `loaded` must outlive it.
    explicit path_causes(const trace& loaded);

    /// Returns what explains a segment, such as "cache.flush in task 7 (flush) for 1.2 ms, no
    /// processor for 0.3 ms, on thread worker (2)". A queued segment has its largest charges, and a
    /// suspended one the device work that it waited for. Empty if the trace has no reason.
    [[nodiscard]] std::string of(const critical_path& path, const path_segment& segment) const;

private:
    [[nodiscard]] std::string reason_of(const critical_path& path,
                                        const path_segment& segment) const;
    [[nodiscard]] std::string queued_behind(const critical_path& path,
                                            const path_segment& segment) const;

    const trace& loaded_;
    charged_work charged_;
    blocking_text blocking_;
    device_coverage devices_;
};

}  // namespace coroscope::analysis::inline listings
