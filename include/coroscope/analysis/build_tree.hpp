// SPDX-License-Identifier: Apache-2.0
#pragma once

// build_tree: orders a list's events and finds their callers (torch: EventList._build_tree).
//
// 1. Order: start ascending, end descending, else the original order.
// 2. Parents: within a thread, CPU events that are not asynchronous nest by closed containment. An
//    event may end exactly with its parent. Of two identical events the first is the parent, unless
//    they have no length. A partial overlap is not a relation.
// 3. Duplicates: an event whose parent has the same name and no other child is removed. The parent
//    takes over its children and its launches.
// 4. Device events belong to the event with their external id, else to the caller of the runtime
//    call with their correlation id. A parent's device time includes its children's.
// 5. Memory records belong to each event of their thread whose interval includes them, with both
//    ends. Records of no event become events "[memory]" without length; each failed allocation
//    becomes "[OutOfMemory]".
// 6. Stacks of deferred work: an event under one that names a forward thread takes the stack of the
//    event with the same sequence number on that thread, or none.
//
// In a torch trace, operations, annotations and runtime calls take part. In a trace without any of
// these, every CPU event does.

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Must be called once per list, after the last addition; a second call does nothing. Not
/// thread-safe on one list. Throws std::bad_alloc.
COROSCOPE_API void build_tree(event_list& events);

}  // namespace coroscope::analysis
