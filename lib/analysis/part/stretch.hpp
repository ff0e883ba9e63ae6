// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stretch of a trace's time, as select_part() cuts it out.

#include <algorithm>
#include <cstdint>

#include <coroscope/analysis/index_range.hpp>

namespace coroscope::analysis::inline part {

struct stretch {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    bool has_end = false;  ///< it ends with the trace, so moments at its end belong to it

    /// Returns whether a time belongs to the stretch in part. A moment belongs to the stretch that
    /// begins with it, so two stretches that touch share none.
    [[nodiscard]] bool touches(std::int64_t start_ns, std::int64_t end_ns) const noexcept {
        const bool begins = start_ns < to_ns || (has_end && start_ns <= to_ns);
        return begins && (end_ns > from_ns || start_ns >= from_ns);
    }
    [[nodiscard]] bool has(std::int64_t moment_ns) const noexcept {
        return touches(moment_ns, moment_ns);
    }
    [[nodiscard]] bool begins_before(std::int64_t start_ns) const noexcept {
        return start_ns < from_ns;
    }
    [[nodiscard]] bool ends_after(std::int64_t end_ns) const noexcept { return end_ns > to_ns; }
    [[nodiscard]] bool cuts(std::int64_t start_ns, std::int64_t end_ns) const noexcept {
        return begins_before(start_ns) || ends_after(end_ns);
    }
    /// Returns the nearest moment of the stretch, counted from its start.
    [[nodiscard]] std::int64_t moved(std::int64_t moment_ns) const noexcept {
        return std::clamp(moment_ns, from_ns, to_ns) - from_ns;
    }
    /// The same; unknown stays unknown.
    [[nodiscard]] optional_ns moved(const optional_ns& moment_ns) const noexcept {
        return moment_ns ? optional_ns(moved(*moment_ns)) : optional_ns();
    }
    void move(std::int64_t& moment_ns) const noexcept { moment_ns = moved(moment_ns); }
    [[nodiscard]] std::int64_t length_ns() const noexcept { return to_ns - from_ns; }
};

}  // namespace coroscope::analysis::inline part
