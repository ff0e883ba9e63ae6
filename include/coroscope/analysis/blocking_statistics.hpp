// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls that blocked a thread, by function, kind of descriptor and place.

#include <cstdint>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// Equal calls. The place is the innermost scope, else the task's spawn site. A call without a
/// scope and without a task has no place.
struct blocking_statistics {
    coroscope::trace::blocked_function function = coroscope::trace::blocked_function::unknown;
    coroscope::trace::descriptor_kind descriptor = coroscope::trace::descriptor_kind::none;
    std::uint32_t scope = none;       ///< its name: index into trace::strings
    std::uint32_t spawn_site = none;  ///< of the task: index into trace::sites
    std::int64_t total_ns = 0;
    percentiles length;
};

/// Returns one entry per function, kind of descriptor and place, the longest total first.
[[nodiscard]] COROSCOPE_API std::vector<blocking_statistics>
statistics_of_blocking_calls(const trace& loaded);

/// "read"; "unknown" for a function that this version does not know.
[[nodiscard]] COROSCOPE_API std::string_view
name_of_function(coroscope::trace::blocked_function function) noexcept;

/// "socket"; empty for a call without a descriptor.
[[nodiscard]] COROSCOPE_API std::string_view
name_of_descriptor(coroscope::trace::descriptor_kind descriptor) noexcept;

}  // namespace coroscope::analysis
