// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arrows of a Kineto trace.

#include <cstdint>
#include <functional>
#include <string_view>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::inline exports {

/// One end of an arrow. The start and each end have the id, the category and the name.
struct flow_end {
    std::int64_t time_ns = 0;
    std::uint64_t id = 0;
    std::string_view category;
    std::uint32_t thread = none;
    bool start = false;
    bool step = false;
    bool enclosing = true;  ///< an end binds to the slice around it; false: to the next
    std::string_view name{};
};

using flow_writer = std::function<void(const flow_end&)>;

/// Calls `write` for each flow that the list has from its file. If there is none, makes flows:
/// "ac2g" from runtime calls to the activities that they launched, and "fwdbwd" from an event that
/// deferred work to the event that ran it. The forward event is found by thread and sequence
/// number. If several have the same, the latest one counts, and it gets one arrow.
void write_flows(const event_list& events, const flow_writer& write);

}  // namespace coroscope::analysis::inline exports
