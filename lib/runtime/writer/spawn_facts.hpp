// SPDX-License-Identifier: Apache-2.0
#pragma once

// The facts about the place at which the tasks of a site are spawned, beside the site's definition.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/fact_format.hpp>
#include <coroscope/trace/spawn_format.hpp>

#include "../calls/call_paths.hpp"
#include "../store/chunk_store.hpp"

namespace coroscope::runtime::inline writer {

inline void define_fact(chunk_store& store, trace::fact_kind kind, const void* body,
                        std::size_t bytes) noexcept {
    store.append_metadata(0, trace::make_tag(trace::record_kind::fact, trace::fact_id(kind), bytes),
                          body, bytes);
}

/// Writes the facts of the site that `place` names; none if the place is unknown.
inline void define_spawns(chunk_store& store, const trace::spawn_place_body& place,
                          const call_step* end) noexcept {
    if (place.inside != 0) define_fact(store, trace::fact_kind::spawn_place, &place, sizeof place);
    if (end == nullptr) return;
    struct {
        trace::spawn_calls_body body;
        std::uint64_t calls[most_calls];
    } payload;
    const std::size_t count = calls_of(*end, payload.calls);
    payload.body = {place.site, static_cast<std::uint32_t>(count)};
    define_fact(store, trace::fact_kind::spawn_calls, &payload,
                sizeof payload.body + count * sizeof payload.calls[0]);
}

}  // namespace coroscope::runtime::inline writer
