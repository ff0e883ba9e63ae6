// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scope and the task of a place as cells of a listing.

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <coroscope/analysis/listing.hpp>
#include <coroscope/analysis/model.hpp>

#include "../../words/places.hpp"

namespace coroscope::analysis::inline listings {

/// Returns the name of a scope (an index into trace::strings); "not applicable" if there is none.
inline listing_cell scope_cell(const trace& loaded, std::uint32_t name) {
    return name < loaded.strings.size() ? listing_cell(loaded.strings[name]) : not_applicable();
}

/// Returns the name of the tasks of a spawn site; "not applicable" if there is none.
inline listing_cell spawn_cell(const trace& loaded, std::uint32_t spawn_site) {
    return spawn_site == none ? listing_cell(not_applicable()) : site_name(loaded, spawn_site);
}

/// Returns the place of a spawn, followed by "and N other places" if there are further ones;
/// unknown if the place is.
inline listing_cell spawned_at_cell(const trace& loaded, std::uint32_t spawn_place,
                                    std::uint64_t further_places = 0) {
    std::string text = spawn_place_text(loaded, spawn_place);
    if (text.empty()) return optional_ns();
    if (further_places != 0)
        text +=
            fmt::format(" and {} other place{}", further_places, further_places == 1 ? "" : "s");
    return text;
}

struct place_cells {
    listing_cell scope;
    listing_cell task;
};

/// `Place` has the members `scope` and `spawn_site`. Both cells are unknown if `known` is false.
template <class Place>
place_cells cells_of_place(const trace& loaded, const Place& place, bool known) {
    if (!known) return {optional_ns(), optional_ns()};
    return {scope_cell(loaded, place.scope), spawn_cell(loaded, place.spawn_site)};
}

}  // namespace coroscope::analysis::inline listings
