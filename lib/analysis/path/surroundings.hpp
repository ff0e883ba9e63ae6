// SPDX-License-Identifier: Apache-2.0
#pragma once

// The data of one trace that the walks of several paths share.

#include <optional>

#include "held_waits.hpp"
#include "thread_occupants.hpp"

namespace coroscope::analysis::inline paths {

class surroundings {
public:
    /// `loaded` must outlive it. `through_holders`: path_options::through_holders.
    surroundings(const trace& loaded, bool through_holders)
        : loaded_(loaded), waits_(loaded), through_holders_(through_holders) {}

    [[nodiscard]] const trace& loaded() const noexcept { return loaded_; }

    [[nodiscard]] const held_waits& waits() const noexcept { return waits_; }

    /// Returns the waits whose holders continue a path; null without `through_holders`.
    [[nodiscard]] const held_waits* held() const noexcept {
        return through_holders_ ? &waits_ : nullptr;
    }

    /// Reads every slice at the first call.
    [[nodiscard]] const thread_occupants& occupants() {
        if (!occupants_) occupants_.emplace(loaded_);
        return *occupants_;
    }

private:
    const trace& loaded_;
    held_waits waits_;
    bool through_holders_;
    std::optional<thread_occupants> occupants_;
};

}  // namespace coroscope::analysis::inline paths
