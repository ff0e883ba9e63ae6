// SPDX-License-Identifier: Apache-2.0
#pragma once

// The running time of each event of a native trace on each thread. Most events ran only on the
// thread on which they began. A scope of a task that changed threads while the scope was open has a
// share on each of these threads.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

/// The running time of one event on one thread. The shares of all threads add up to the event's
/// times.
struct thread_share {
    std::uint32_t thread = none;  ///< index into trace::threads
    std::int64_t running_ns = 0;
    std::int64_t self_ns = 0;  ///< without its child events
};

class thread_shares {
public:
    explicit thread_shares(const trace& loaded);

    /// Returns the event's shares, in the order in which it first ran on their threads. Valid until
    /// the next call.
    [[nodiscard]] std::span<const thread_share> of(std::uint32_t event);

private:
    void find_shares(std::uint32_t at);
    void leave_out_children();
    void settle_rests();

    const trace& loaded_;
    std::unordered_map<std::uint32_t, std::vector<thread_share>> moved_;  ///< by event
    thread_share single_;
};

}  // namespace coroscope::analysis::inline answers
