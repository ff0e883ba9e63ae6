// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests: a scope whose site is of kind `request` is one, and needs no other record. A fact of
// kind `request`, in chunks of kind `records`, makes a range or a task a request, or gives a
// request a deadline or a failure. Facts of the same request add up. See also
// docs/reference/format.md.

#include <cstdint>

#include <coroscope/trace/fact_format.hpp>

namespace coroscope::trace {

// clang-format off: tables with a remark beside each row
/// The extent of a request.
enum class request_form : std::uint32_t {
    scope = 0,  ///< the scope with this start, this mark and this site
    range = 1,  ///< the range with this start and this mark; `site` is the serial of its label
    task = 2,   ///< the whole task of the mark; the first word is the moment of the fact
};

/// The head of a request's fact. The first word of the record is the start in ticks.
struct request_body {
    std::uint64_t mark;         ///< of the start
    std::uint64_t deadline_ns;  ///< the longest time that it may take; 0: not in this fact
    std::uint32_t site;         ///< kind of site: request; of a task 0, if the label follows
    std::uint32_t reserved;
    std::uint64_t reserved_too;
};
// clang-format on
static_assert(sizeof(request_body) == 32);

// The bits of a request above the kind of the fact (fact_bits_of): the form, then the flags.
inline constexpr std::uint32_t request_form_mask = 3;
inline constexpr std::uint32_t request_failed = 1U << 2;    ///< by an exception, or by fail()
inline constexpr std::uint32_t request_left_out = 1U << 3;  ///< of a task: as scope_left_out

constexpr std::uint32_t make_request_id(request_form form, std::uint32_t flags = 0) noexcept {
    return trace::fact_id(fact_kind::request, static_cast<std::uint32_t>(form) | flags);
}
constexpr request_form request_form_of(std::uint32_t id) noexcept {
    return static_cast<request_form>(trace::fact_bits_of(id) & request_form_mask);
}

}  // namespace coroscope::trace
