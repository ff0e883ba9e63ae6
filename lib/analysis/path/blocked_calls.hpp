// SPDX-License-Identifier: Apache-2.0
#pragma once

// The times in which threads were blocked in system calls that wait for no lock.

#include <cstdint>

#include <coroscope/analysis/model.hpp>

#include "../words/call_names.hpp"

namespace coroscope::analysis::inline paths {

class blocked_calls {
public:
    /// `loaded` must outlive it.
    explicit blocked_calls(const trace& loaded) : loaded_(loaded), calls_(loaded) {}

    /// Returns the time of a thread between two moments in which the watcher of threads saw that it
    /// was blocked in a call that waits for no lock.
    [[nodiscard]] std::int64_t without_lock(std::uint32_t thread, std::int64_t from_ns,
                                            std::int64_t to_ns) const;

private:
    const trace& loaded_;
    call_names calls_;
};

}  // namespace coroscope::analysis::inline paths
