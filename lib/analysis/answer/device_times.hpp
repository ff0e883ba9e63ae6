// SPDX-License-Identifier: Apache-2.0
#pragma once

// The device time of each scope of a native trace, by torch's rule: its own time is that of the
// work that it launched, its total includes the scopes in it. A range that ended with a stream has
// a total of the work that it requested from that stream.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

class device_times {
public:
    /// Costs nothing if the trace has no devices.
    explicit device_times(const trace& loaded);

    [[nodiscard]] bool any() const { return !own_ns_.empty(); }

    // By index into trace::events. Precondition: any().
    [[nodiscard]] std::int64_t own_ns(std::size_t event) const { return own_ns_[event]; }
    [[nodiscard]] std::int64_t total_ns(std::size_t event) const { return total_ns_[event]; }

private:
    void add_ranges(const trace& loaded);

    std::vector<std::int64_t> own_ns_;
    std::vector<std::int64_t> total_ns_;
};

}  // namespace coroscope::analysis::inline answers
