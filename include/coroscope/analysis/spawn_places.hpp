// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names the places of the calls that spawned tasks, from the files that the trace names. The rules
// of the symbolizer (symbolizer.hpp) decide which files are read.
//
//   with debug information       file and line of the call, and the function that contains it
//   with symbols only            the function
//   else                         unknown
//
// A call in tail position leaves no return address: the place is then that of the call before it.

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Fills trace::spawn_places. Also moves the line of a coroutine's site to the line at which the
/// debug information declares its function, because g++ gives the line of the closing brace. Must
/// be called before the trace is added to another (add_process()). Throws std::bad_alloc.
COROSCOPE_API void name_spawn_places(trace& loaded);

}  // namespace coroscope::analysis
