// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time of each stack, by its kind. folded_stacks.hpp says which time a stack has.

#include <cstdint>
#include <functional>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>

#include "../../path/state_kind.hpp"
#include "scope_index.hpp"
#include "stack_tree.hpp"

namespace coroscope::analysis::inline profiles {

/// Takes a part of the time of a stack, whose node is in the stack_tree. It is more than zero.
using stack_time_use =
    std::function<void(std::uint32_t node, path_kind kind, std::int64_t time_ns)>;

/// Visits all time of tasks, and of scopes outside tasks.
void visit_stack_times(const trace& from, const scope_index& scopes, stack_tree& stacks,
                       const stack_time_use& use);

/// Returns the node of a segment of a critical path.
[[nodiscard]] std::uint32_t node_of(stack_tree& stacks, const path_segment& segment);

/// Visits the running time on a thread, divided by its states as far as these are known.
template <class Visit>
void visit_running(const trace& from, std::uint32_t thread, std::int64_t from_ns,
                   std::int64_t to_ns, const Visit& visit) {
    if (!from.states.any()) return visit(from_ns, to_ns, path_kind::running);
    for (const state_stretch& each : from.states.stretches(thread, from_ns, to_ns))
        visit(each.start_ns, each.end_ns, kind_of(each.state));
}

}  // namespace coroscope::analysis::inline profiles
