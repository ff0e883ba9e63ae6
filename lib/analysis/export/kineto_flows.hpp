// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arrows of a Kineto trace.

#include <cstdint>
#include <functional>
#include <string_view>

#include <coroscope/analysis/event_list.hpp>

namespace coroscope::analysis::exporting {

/// One end of an arrow. The start and each end have the id and the category.
struct flow_end {
    std::int64_t time_ns = 0;
    std::uint64_t id = 0;
    std::string_view category;
    std::uint32_t thread = none;
    bool start = false;
};

using flow_writer = std::function<void(const flow_end&)>;

/// Hands out those that the list has from its file. Where it has none: "ac2g" from runtime calls to what they launched, and
/// "fwdbwd" from deferred work to where it ran, the forward events keyed by thread and sequence number, the latest
/// start of a key, each key once.
void write_flows(const event_list& events, const flow_writer& write);

}  // namespace coroscope::analysis::exporting
