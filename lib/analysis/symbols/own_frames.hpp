// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frames of the profiler's own headers, by which a program begins scopes and creates tasks.

#include "dwarf_files.hpp"

namespace coroscope::analysis::inline symbols {

inline bool in_own_header(const code_line& place) {
    return place.file.find("include/coroscope/") != std::string::npos;
}

/// Returns the line to show for the frame. clang gives initialisers of an aggregate's members a
/// line in our header, although they are in a user's function. Then the line of the function's
/// declaration is returned.
inline const code_line& shown_line(const source_place& place) {
    const bool amiss = place.owner == code_owner::user && in_own_header(place.at);
    return amiss ? place.declared : place.at;
}

/// Returns whether the call is in a header of ours by which a program begins scopes. Without debug
/// information the function's name decides.
inline bool is_own(const source_place& place) {
    if (place.at.file.empty()) return place.owner == code_owner::coroscope;
    return in_own_header(place.at) && place.owner != code_owner::user;
}

}  // namespace coroscope::analysis::inline symbols
