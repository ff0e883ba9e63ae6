// SPDX-License-Identifier: Apache-2.0
#pragma once

// The device activities of a native trace in torch's form: rows for calls, kernels, copies and
// sets, linked to the scopes that launched them, and the memory of devices.

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>

#include "../model/lane.hpp"

namespace coroscope::analysis::inline events {

class native_devices {
public:
    /// `lanes` has the lane of each of the trace's threads.
    native_devices(const trace& from, event_list& to, const std::vector<std::uint32_t>& lanes);

    /// Returns the number by which device events refer to the event that launched them. `event` is
    /// an index into trace::events. Returns 0 if the event launched nothing.
    [[nodiscard]] std::uint64_t external_id(std::size_t event) const {
        return event < launches_.size() && launches_[event] ? event + 1 : 0;
    }

    /// Adds the device activities and the memory records. Must be called once.
    void add();

private:
    /// The lanes of a stream. An activity that would overlap another one on the first lane is on a
    /// further lane.
    struct stream_lanes {
        std::vector<lane> spans;
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
    std::vector<bool> launches_;          // by event
    std::vector<std::uint32_t> numbers_;  // by activity: the unique correlation of a call
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, stream_lanes> streams_;
    std::map<std::uint32_t, std::uint32_t> contexts_;  // by device: its first context
    std::map<std::uint32_t, std::int64_t> allocated_;  // by device
};

}  // namespace coroscope::analysis::inline events
