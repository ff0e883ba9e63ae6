// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kinds of waits for resources. The waits of threads for the results of futures are recorded as
// waits for a resource that the producer releases.

#include <string_view>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline model {

/// Returns whether the wait is one of a thread for the result of a future.
inline bool is_for_result(const trace& loaded, const resource_wait& wait) {
    return wait.site < loaded.sites.size() && loaded.sites[wait.site].category == "future";
}

/// Returns whether several can have the resource at a time.
inline bool has_several_holders(const trace& loaded, const resource_wait& wait) {
    if (wait.site >= loaded.sites.size()) return false;
    const std::string_view kind = loaded.sites[wait.site].category;
    return kind == "semaphore" || (wait.capacity != 1 && !wait.shared && kind != "channel");
}

/// Returns whether the work that releases the resource held it before. Anybody may make room in a
/// channel or release a semaphore.
inline bool has_holders(const trace& loaded, const resource_wait& wait) {
    if (wait.holder_known) return true;
    if (wait.site >= loaded.sites.size()) return false;
    const std::string_view kind = loaded.sites[wait.site].category;
    return kind != "semaphore" && kind != "channel";
}

/// Returns whether the release that ended the wait is known, with the task or thread.
inline bool has_releaser(const resource_wait& wait) {
    return wait.released_ns && (wait.releaser_task != none || wait.releaser_thread != none);
}

}  // namespace coroscope::analysis::inline model
