// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reserves memory for a vector that may grow to gigabytes. The final number of elements is
// estimated, because growth by doubling needs the old and the new memory at the same time. Memory
// that is reserved and not used costs nothing, because the kernel provides pages when they are
// first written.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace coroscope::analysis::inline chrome {

/// Makes room for one more element. `progress()` must return the share of the input that has been
/// read so far, from 0 to 1.
template <class Element, class Progress>
void make_room(std::vector<Element>& elements, const Progress& progress) {
    if (elements.size() < elements.capacity()) return;
    constexpr std::size_t few = std::size_t{1} << 17;
    constexpr double spare = 1.15;  // unneeded memory is never touched
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

}  // namespace coroscope::analysis::inline chrome
