// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/views.hpp>

#include <coroscope/analysis/device_statistics.hpp>

#include "device_text.hpp"

namespace coroscope::analysis {
namespace {

optional_ns length_of(const device_range& range) {
    return range.end_ns ? optional_ns(*range.end_ns - range.start_ns) : std::nullopt;
}

listing_cell task_of(const trace& loaded, const device_range& range) {
    if (range.task >= loaded.tasks.size()) return not_applicable();
    return optional_ns(static_cast<std::int64_t>(loaded.tasks[range.task].id));
}

/// Returns the range's device time. It is unknown if the stream is unknown, and 0 if there was no
/// work.
optional_ns covered_by(const device_share& share) {
    return share.waits != 0 ? optional_ns(share.covered_ns) : std::nullopt;
}

}  // namespace

listing list_device_ranges(const trace& loaded) {
    listing list;
    list.columns = {{"Range", "name", cell_kind::text},
                    {"Task", "task", cell_kind::count},
                    {"Start", "start_ns", cell_kind::moment},
                    {"Total", "total_ns", cell_kind::time},
                    {"On device", "device_ns", cell_kind::time},
                    {"Device queue", "device_queued_ns", cell_kind::time},
                    {"Device start", "device_start_ns", cell_kind::moment},
                    {"Device end", "device_end_ns", cell_kind::moment},
                    {"Asked for", "asked_for", cell_kind::sentence}};
    const device_coverage coverage(loaded);
    for (std::uint32_t at = 0; at < loaded.device_ranges.size(); ++at) {
        const device_range& range = loaded.device_ranges[at];
        const device_share share = coverage.of_range(at);
        std::vector<listing_cell> cells{
            range.name < loaded.strings.size() ? loaded.strings[range.name] : std::string()};
        cells.emplace_back(task_of(loaded, range));
        cells.emplace_back(optional_ns(range.start_ns));
        cells.emplace_back(length_of(range));
        cells.emplace_back(covered_by(share));
        cells.emplace_back(share.queued_ns);
        cells.emplace_back(share.start_ns);
        cells.emplace_back(share.end_ns);
        cells.emplace_back(wait_text(loaded, work_of_range(loaded, at), share.queued_ns));
        list.rows.push_back(std::move(cells));
    }
    return list;
}

}  // namespace coroscope::analysis
