// SPDX-License-Identifier: Apache-2.0
#pragma once

// build_tree: orders a list's events and finds who called whom (torch: EventList._build_tree).
//
// 1. Order: start ascending, end descending, else as they stood.
// 2. Parents: within a thread, CPU events that are not asynchronous nest by closed containment. An event may end
//    exactly with its parent; of two identical ones the first is the parent, unless they have no length; a partial
//    overlap is no relation.
// 3. Duplicates: an event whose parent has the same name and no other child is removed; the parent takes over
//    its children and what it launched.
// 4. Device events belong to the event whose external id they carry, else to the caller of the runtime call with
//    their correlation id. A parent's device time includes its children's.
// 5. Memory records belong to each event of their thread in whose interval they lie, both ends included. Those
//    of no event become events "[memory]" without length; each failed allocation becomes "[OutOfMemory]".
// 6. Stacks of deferred work: an event under one that names a forward thread takes the stack of the event with
//    the same sequence number on that thread, or none.
//
// In a torch trace operations, annotations and runtime calls take part; in a trace that has none of these, every
// CPU event does.

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Once per list, when everything has been added; a second call does nothing. Not thread-safe on one list.
/// Throws std::bad_alloc.
COROSCOPE_API void build_tree(event_list& events);

}  // namespace coroscope::analysis
