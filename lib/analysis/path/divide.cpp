// SPDX-License-Identifier: Apache-2.0
#include "divide.hpp"

#include <cstdint>

#include "scope_timelines.hpp"
#include "state_kind.hpp"

namespace coroscope::analysis::inline paths {
namespace {

void divide_by_state(const trace& loaded, path_segment segment, std::vector<path_segment>& to) {
    if (!loaded.states.any()) {
        to.push_back(segment);
        return;
    }
    for (const state_stretch& each :
         loaded.states.stretches(segment.thread, segment.start_ns, segment.end_ns)) {
        segment.kind = kind_of(each.state);
        segment.start_ns = each.start_ns;
        segment.end_ns = each.end_ns;
        to.push_back(segment);
    }
}

void divide(const trace& loaded, const scope_timelines& scopes,
            const std::vector<path_segment>& whole, std::vector<path_segment>& pieces) {
    for (path_segment segment : whole) {
        if (segment.kind != path_kind::running) {
            segment.event = scopes.innermost_at(segment.task, segment.thread, segment.start_ns);
            pieces.push_back(segment);
            continue;
        }
        scopes.for_each_piece(segment.task, segment.thread, segment.start_ns, segment.end_ns,
                              [&](std::int64_t from_ns, std::int64_t to_ns, std::uint32_t scope) {
                                  segment.start_ns = from_ns;
                                  segment.end_ns = to_ns;
                                  segment.event = scope;
                                  divide_by_state(loaded, segment, pieces);
                              });
    }
}

}  // namespace

void divide(const trace& loaded, std::vector<critical_path>& paths) {
    scope_timelines scopes(loaded);
    for (const critical_path& path : paths) {
        for (const path_segment& each : path.segments) scopes.watch(each.task, each.thread);
        for (const path_wait& each : path.waits) scopes.watch(each.task, each.thread);
    }
    scopes.read();
    std::vector<path_segment> pieces;
    for (critical_path& path : paths) {
        pieces.clear();
        divide(loaded, scopes, path.segments, pieces);
        path.segments.assign(pieces.begin(), pieces.end());
        for (path_wait& each : path.waits)
            each.event = scopes.innermost_at(each.task, each.thread, each.start_ns);
    }
}

}  // namespace coroscope::analysis::inline paths
