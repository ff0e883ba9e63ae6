// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values of the program, such as the length of a queue: facts of kind `value`, in chunks of kind
// `records`, with the moment as their first word. The tag names the site. See also
// docs/reference/format.md.

#include <cstdint>

#include <coroscope/trace/fact_format.hpp>

namespace coroscope::trace {

struct value_body {
    std::uint64_t bits;  ///< of an int64, or of a double
    std::uint64_t mark;  ///< the task and the thread of the moment
};
static_assert(sizeof(value_body) == 16);

// The bits of a value above the kind of the fact (fact_bits_of): a flag, and the site (kind of
// site: value). Greater sites are written as 0, unknown.
inline constexpr std::uint32_t value_is_double = 1U << 0;
inline constexpr unsigned value_site_shift = 1;
inline constexpr std::uint32_t value_site_limit = 1U << 23;

constexpr std::uint32_t make_value_id(std::uint32_t site, bool is_double) noexcept {
    const std::uint32_t kept = site < value_site_limit ? site : 0;
    return trace::fact_id(fact_kind::value,
                          kept << value_site_shift | (is_double ? value_is_double : 0U));
}
constexpr std::uint32_t value_site_of(std::uint32_t id) noexcept {
    return trace::fact_bits_of(id) >> value_site_shift;
}

}  // namespace coroscope::trace
