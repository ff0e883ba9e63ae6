// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cells of columns that show one part of a row's time: a state of its running time, or a
// percentile of its calls.

#include <cstdint>
#include <string>

#include "cell_source.hpp"
#include "table_rows.hpp"

namespace coroscope::analysis::inline tables {

using row_states = state_times function_event_avg::*;
using state_part = std::int64_t state_times::*;

/// A plus means "at least": some of the running time, or its state, is unknown.
template <row_states Of, state_part Part>
std::string state_cell(const cell_source& of) {
    const state_times& times = of.row().*Of;
    const optional_ns known = known_state(of.row(), times, times.*Part);
    if (!known) return "unknown";
    return of.time(*known) + (times.unknown_ns != 0 || is_least(of.row()) ? "+" : "");
}
template <row_states Of, state_part Part>
data_value state_figure(const cell_source& of) {
    const state_times& times = of.row().*Of;
    return known_state(of.row(), times, times.*Part);
}
template <row_states Of>
data_value unknown_figure(const cell_source& of) {
    return known_sum(of.row(), (of.row().*Of).unknown_ns);
}
template <row_states Of, state_part Part>
std::int64_t sort_state(const function_event_avg& of) {
    return of.*Of.*Part;
}
using percentile = std::int64_t percentiles::*;

/// Unknown if no call of the row is whole.
template <percentile Member>
data_value percentile_figure(const cell_source& of) {
    const auto& known = of.row().wall_percentiles;
    return known && known->count != 0 ? optional_ns((*known).*Member) : optional_ns();
}
template <percentile Member>
std::string percentile_cell(const cell_source& of) {
    const auto& known = of.row().wall_percentiles;
    return known && known->count != 0 ? of.time((*known).*Member) : "unknown";
}
template <percentile Member>
std::int64_t sort_percentile(const function_event_avg& of) {
    return of.wall_percentiles ? (*of.wall_percentiles).*Member : 0;
}

}  // namespace coroscope::analysis::inline tables
