// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reasons for the segments of a critical path, as sentences.

#include <string>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/model.hpp>

#include "../../path/charged_work.hpp"
#include "../../path/waking_work.hpp"
#include "blocking_text.hpp"

namespace coroscope::analysis::inline listings {

class path_causes {
public:
    /// `loaded` and `path` must outlive it.
    path_causes(const trace& loaded, const critical_path& path);

    /// Returns what explains a segment of the path, such as "cache.flush in task 7 (flush) for
    /// 1.2 ms, no processor for 0.3 ms, on thread worker (2)". A queued segment has its largest
    /// charges; those to work of one name are one. A suspended segment has the device work for
    /// which it waited, or the scope outside tasks that ended it. Empty if the trace has no reason.
    [[nodiscard]] std::string of(const path_segment& segment) const;

private:
    [[nodiscard]] std::string reason_of(const path_segment& segment) const;
    [[nodiscard]] std::string queued_behind(const path_segment& segment) const;
    [[nodiscard]] std::string ended_by(const path_segment& segment) const;

    const trace& loaded_;
    const critical_path& path_;
    charged_work charged_;
    waking_work waking_;
    blocking_text blocking_;
    device_coverage devices_;
};

}  // namespace coroscope::analysis::inline listings
