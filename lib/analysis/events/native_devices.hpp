// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a native trace knows of devices, in torch's words: rows for calls, kernels, copies and sets, tied to the
// scopes that launched them, and the memory of devices.

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>

#include "../render/drawing_lanes.hpp"

namespace coroscope::analysis::events {

class native_devices {
public:
    /// `lanes`: of the trace's threads.
    native_devices(const trace& from, event_list& to, const std::vector<std::uint32_t>& lanes);

    /// What device events name their launcher by; 0 where the event (an index into trace::events) launched nothing.
    [[nodiscard]] std::uint64_t external_id(std::size_t event) const {
        return event < launches_.size() && launches_[event] ? event + 1 : 0;
    }

    /// Everything that is not an event of the trace. To be called once.
    void add();

private:
    /// Lanes of a stream: what would overlap on the first stands on others.
    struct stream_lanes {
        std::vector<render::lane> spans;
        std::vector<std::uint32_t> lanes;
    };

    void number_calls();
    void add_row(const device_activity& each, std::uint32_t index);
    void add_memory(const device_activity& each);
    [[nodiscard]] std::uint32_t thread_lane(const device_activity& each) const;
    std::uint32_t stream_lane(const device_activity& each);
    std::uint32_t make_lane(const device_activity& each, std::size_t beside);
    [[nodiscard]] std::int32_t device_index(const device_activity& each) const;

    const trace& from_;
    event_list& to_;
    const std::vector<std::uint32_t>& lanes_;
    std::vector<bool> launches_;  // by event
    std::vector<std::uint32_t>
        numbers_;  // by activity: a call's correlation, which nothing else has
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, stream_lanes> streams_;
    std::map<std::uint32_t, std::uint32_t> contexts_;  // the first of each device
    std::map<std::uint32_t, std::int64_t> allocated_;  // by device
};

}  // namespace coroscope::analysis::events
