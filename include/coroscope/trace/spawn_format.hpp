// SPDX-License-Identifier: Apache-2.0
#pragma once

// Places of spawns: facts of kinds spawn_place and spawn_calls, in chunks of kind `metadata`. A
// coroutine or an operation that is spawned at several places has a site for each of them, with
// equal texts. See also docs/reference/format.md.

#include <cstdint>

namespace coroscope::trace {

/// The body of a fact of kind spawn_place: addresses in the code of the process, each inside an
/// instruction. A reader looks up the calls at these addresses, also inlined ones, in the files of
/// the trace's `module` records. If the coroutine's ramp was inlined at `inside`, the inlined call
/// is the place of the spawn; else `caller` is in that call.
struct spawn_place_body {
    std::uint32_t site;  ///< id of the site
    std::uint32_t reserved;
    std::uint64_t inside;  ///< in the coroutine's ramp
    std::uint64_t caller;  ///< in the call of the function that contains `inside`
};
static_assert(sizeof(spawn_place_body) == 24);

/// The body of a fact of kind spawn_calls, before `count` addresses of 8 bytes, each inside the
/// instruction of a call, innermost first. The place of the spawn is the innermost call that is
/// neither in the integration nor in its library. There may be further calls, and the outermost
/// ones may be missing.
struct spawn_calls_body {
    std::uint32_t site;  ///< id of the site
    std::uint32_t count;
};
static_assert(sizeof(spawn_calls_body) == 8);

}  // namespace coroscope::trace
