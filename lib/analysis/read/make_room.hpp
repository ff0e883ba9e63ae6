// SPDX-License-Identifier: Apache-2.0
#pragma once

// Room for elements whose number can be estimated: a vector of gigabytes that grows by doubling holds
// half as much again while it is moved. Elements are written one after the other, which small pages suit: each is
// still in the caches when it is filled.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace coroscope::analysis::reading {

/// Makes room for one more element. `progress` says which share of the input they came from, 0 to 1.
template <class Element, class Progress>
void make_room(std::vector<Element>& elements, const Progress& progress) {
    if (elements.size() < elements.capacity()) return;
    constexpr std::size_t few = std::size_t{1} << 17;
    constexpr double spare = 1.15;  // it is not touched where it is not needed
    constexpr double least_progress = 0.0001;
    const std::size_t size = elements.size();
    std::size_t wanted = std::max<std::size_t>(size * 2, 64);
    if (size >= few) {
        const double share = std::max(progress(), least_progress);
        const auto all = static_cast<std::size_t>(static_cast<double>(size) / share * spare);
        wanted = std::max(all, size + size / 8);
    }
    elements.reserve(wanted);
}

}  // namespace coroscope::analysis::reading
