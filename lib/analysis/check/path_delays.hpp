// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the delays of critical paths: what other work, locks and the machine added to them.

#include <cstdint>
#include <utility>
#include <vector>

#include "../path/charged_work.hpp"
#include "delays.hpp"

namespace coroscope::analysis::inline checks {

class path_delays {
public:
    /// `loaded` must outlive it.
    explicit path_delays(const trace& loaded)
        : loaded_(loaded), charged_(loaded), stalled_of_(loaded.executors.size() + 1) {}

    /// Adds the path of the request with that index.
    void add(std::uint32_t request, const critical_path& path);

    /// The part of the path that was added last that belongs to no recorded work.
    [[nodiscard]] stalled_time stalled_of_last() const noexcept { return stalled_; }

    /// The part of that path whose cause is unknown, because facts are missing.
    [[nodiscard]] std::int64_t unproven_ns_of_last() const noexcept { return unproven_ns_; }

    [[nodiscard]] std::vector<queue_delay> take_queued() { return std::exchange(queued_, {}); }
    [[nodiscard]] std::vector<hold_delay> take_held() { return std::exchange(held_, {}); }
    [[nodiscard]] std::vector<turn_delay> take_turns() { return std::exchange(turns_, {}); }
    /// By executor; the last one is that of unknown executors.
    [[nodiscard]] std::vector<stalled_time> take_stalled() {
        return std::exchange(stalled_of_, {});
    }

private:
    void add_queued(std::uint32_t request, const critical_path& path, const path_segment& segment);
    void add_waker(const path_segment& segment);
    void add_held(std::uint32_t request, const critical_path& path, const path_segment& segment);
    void add_turn(std::uint32_t request, const critical_path& path, const path_segment& segment);
    [[nodiscard]] path_kind state_of_holder(const charge& holder, const path_segment& during) const;
    [[nodiscard]] bool is_unproven(const path_segment& segment) const;
    [[nodiscard]] bool is_unproven(const charge& holder, const path_segment& during) const;
    void add_blocked(std::uint32_t request, const critical_path& path, const path_segment& segment);

    const trace& loaded_;
    charged_work charged_;
    std::vector<queue_delay> queued_;
    std::vector<hold_delay> held_;
    std::vector<turn_delay> turns_;
    std::vector<stalled_time> stalled_of_;  // by executor, queued time only
    stalled_time stalled_;
    std::int64_t unproven_ns_ = 0;
};

}  // namespace coroscope::analysis::inline checks
