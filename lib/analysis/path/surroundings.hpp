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
    surroundings(const trace& loaded, bool through_holders) : loaded_(loaded) {
        if (through_holders) held_.emplace(loaded);
    }

    [[nodiscard]] const trace& loaded() const noexcept { return loaded_; }

    /// Returns the waits whose holders continue a path; null without `through_holders`.
    [[nodiscard]] const held_waits* held() const noexcept { return held_ ? &*held_ : nullptr; }

    /// Reads every slice at the first call.
    [[nodiscard]] const thread_occupants& occupants() {
        if (!occupants_) occupants_.emplace(loaded_);
        return *occupants_;
    }

private:
    const trace& loaded_;
    std::optional<held_waits> held_;
    std::optional<thread_occupants> occupants_;
};

}  // namespace coroscope::analysis::inline paths
