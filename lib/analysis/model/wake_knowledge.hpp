// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a trace knows about the time at which an awaiting task became ready. Every view uses these
// distinctions.

#include <cstdint>

#include <coroscope/analysis/model.hpp>

#include "interruptions.hpp"

namespace coroscope::analysis::inline model {

enum class wake_knowledge : std::uint8_t {
    seen,       ///< await_info::wake_ns
    by_resume,  ///< the waker is known, and the wake was at resume_ns or earlier
    not_yet,    ///< the task was not ready when the session ended
    unseen
};

/// Precondition: await.task is an index into trace::tasks.
[[nodiscard]] inline wake_knowledge knowledge_of_wake(const trace& loaded,
                                                      const await_info& await) noexcept {
    if (await.wake_ns) return wake_knowledge::seen;
    if (is_held(loaded, await)) return wake_knowledge::not_yet;
    return await.waker != none && await.resume_ns ? wake_knowledge::by_resume
                                                  : wake_knowledge::unseen;
}

}  // namespace coroscope::analysis::inline model
