// SPDX-License-Identifier: Apache-2.0
#pragma once

// Event lists made by hand, and searches in them.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/function_event.hpp>

namespace coroscope::test {

/// Returns a list of these events with their tree.
inline analysis::event_list built(std::initializer_list<analysis::event_values> events) {
    analysis::event_list list;
    for (const analysis::event_values& each : events) analysis::add_event(list, each);
    analysis::build_tree(list);
    return list;
}

/// The first event of that name.
inline analysis::function_event find(const analysis::event_list& list, std::string_view name) {
    for (const analysis::function_event each : list)
        if (each.name() == name) return each;
    FAIL("no event " << std::string(name));
    return {list, 0};
}

inline std::string parent_of(const analysis::event_list& list, std::string_view name) {
    const auto parent = find(list, name).cpu_parent();
    return parent ? std::string(parent->name()) : std::string();
}

}  // namespace coroscope::test
