// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of awaits, and of their places in the source.

#include <cstdint>
#include <string>

#include "../model/interruptions.hpp"
#include "places.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

/// Whether it is a wait of a fiber, which has no line of its own, inside a scope.
inline bool is_placed_by_scope(const trace& loaded, const await_info& await) {
    if (!loaded.tasks[await.task].fiber || await.scope >= loaded.events.size()) return false;
    return await.site >= loaded.sites.size() || loaded.sites[await.site].file.empty();
}

/// The site that has the await's place. If the task handed over in the middle of its own code, the
/// spawn site of the task that it resumed; `none` if that is unknown, too. For a wait of a fiber
/// without a line, the site of the innermost scope.
inline std::uint32_t await_place(const trace& loaded, const await_info& await) {
    if (is_interruption(await) && await.awaited < loaded.tasks.size())
        return loaded.tasks[await.awaited].spawn_site;
    return is_placed_by_scope(loaded, await) ? loaded.events[await.scope].site : await.site;
}

/// Returns the title of the await's site; "load (resumed in place)" for a hand-over.
inline std::string await_title(const trace& loaded, const await_info& await) {
    const bool placed = is_placed_by_scope(loaded, await) && !is_interruption(await);
    const std::string title = site_name(loaded, placed ? await.site : await_place(loaded, await));
    return is_interruption(await) ? title + " (resumed in place)" : title;
}

}  // namespace coroscope::analysis::inline words
