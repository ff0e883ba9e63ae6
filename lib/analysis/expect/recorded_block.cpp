// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <coroscope/analysis/expect.hpp>
#include <coroscope/analysis/load.hpp>
#include <fmt/format.h>

namespace coroscope::analysis {
namespace {

std::string doubt_about(const trace_health& health) {
    if (health.damaged_chunks != 0 || health.partial)
        return "the recording is damaged, so it proves nothing";
    if (!health.lost_records()) return {};
    return fmt::format("the recording lost {} records, so it proves nothing; raise the session's "
                       "limit_bytes, or record less",
                       health.dropped_newest + health.overwritten + health.late_records);
}

}  // namespace

recorded_block::recorded_block(const coroscope::trace::buffer& bytes) {
    auto loaded = analysis::load(bytes);
    if (!loaded) {
        doubt_ = fmt::format("nothing was recorded ({}); session.status() has the reason",
                             loaded.error().message);
        return;
    }
    loaded_ = std::move(*loaded);
    doubt_ = doubt_about(loaded_.health);
}

recorded_block::recorded_block(trace loaded) : loaded_(std::move(loaded)) {
    doubt_ = doubt_about(loaded_.health);
}

}  // namespace coroscope::analysis
